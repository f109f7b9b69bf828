//! Starts the demo org and says what is where, until ctrl-c: `cargo run -p muster-testkit --example demo_org`.

use std::error::Error;
use std::path::Path;

use muster_testkit::oidc::PEOPLE;
use muster_testkit::scenario::FLEET;
use muster_testkit::{DemoOptions, DemoOrg};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let demo = DemoOrg::start(DemoOptions::default()).await?;
    println!("Issuer  {}", demo.issuer());
    println!("KMS     {}", demo.kms_url());
    println!("\nPeople (no passwords)");
    for person in &PEOPLE {
        println!("  {:<5} {} of {}", person.id, person.name, person.orgs.join(", "));
    }
    println!("\nClusters");
    for plan in &FLEET {
        let id = format!("{}/{}", plan.org.unwrap_or("nobody"), plan.name);
        let place = demo.cluster(&id).map_or_else(|| "down".to_owned(), |server| server.url());
        let (nodes, nvidia, amd) = plan.counts();
        println!("  {id:<18} {place:<26} {nodes:>2} nodes, {nvidia} nvidia.com/gpu, {amd} amd.com/gpu");
    }
    // The kubeconfigs hold credentials of this demo only, which end with it.
    let folder = std::env::args().nth(1);
    match folder.as_deref().map(Path::new) {
        None => println!("\nName a folder to have the kubeconfigs that nobody has registered written there."),
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            println!("\nTo register");
            for (name, kubeconfig) in demo.unregistered() {
                let file = folder.join(format!("{name}.yaml"));
                std::fs::write(&file, kubeconfig)?;
                println!("  {}", file.display());
            }
        }
    }
    println!("\nDeployment file\n\n{}", demo.deployment_toml());
    tokio::signal::ctrl_c().await?;
    Ok(())
}

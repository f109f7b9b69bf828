//! Prints the accelerator inventory of a case file: `cargo run -q -p muster-core --example inventory -- CASE.json`.

mod case;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: inventory CASE.json")?;
    let inventory = case::inventory_of(&std::fs::read(path)?)?;
    println!("{}", serde_json::to_string_pretty(&inventory)?);
    Ok(())
}

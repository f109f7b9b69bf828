//! A name for the registration, suggested from how tools name contexts, and the provider, where the file tells it.
//!
//! Invariant: what is suggested passes the name rule (a DNS label, RFC 1123). Deliberately absent: asking anybody.

use url::Url;

const MAX_LABEL: usize = 63;

/// Contexts that many tools call the same say nothing about the cluster.
const GENERIC: [&str; 8] =
    ["default", "kubernetes", "kubeconfig", "context", "local", "cluster", "admin", "main"];

/// Suggests a name for a context.
pub fn suggest(context: &str, cluster: &str, server: Option<&Url>) -> String {
    [telling_part(context), telling_part(cluster)]
        .into_iter()
        .map(slug)
        .find(|name| !name.is_empty() && !GENERIC.contains(&name.as_str()))
        .or_else(|| server.and_then(from_host))
        .unwrap_or_else(|| "cluster".to_owned())
}

/// The part of a tool's context name that people call the cluster.
fn telling_part(context: &str) -> &str {
    // arn:aws:eks:REGION:ACCOUNT:cluster/NAME
    if context.starts_with("arn:") {
        return context.rsplit('/').next().unwrap_or(context);
    }
    // gke_PROJECT_ZONE_NAME; connectgateway_PROJECT_LOCATION_NAME
    if context.starts_with("gke_") || context.starts_with("connectgateway_") {
        return context.splitn(4, '_').nth(3).unwrap_or(context);
    }
    // //gkemulticloud.googleapis.com/projects/P/locations/L/awsClusters/NAME
    if context.starts_with("//") {
        return context.rsplit('/').next().unwrap_or(context);
    }
    // OpenShift: NAMESPACE/HOST-WITH-DASHES:PORT/USER
    let parts: Vec<&str> = context.split('/').collect();
    if let [_, host, _] = parts[..]
        && let Some((host, port)) = host.rsplit_once(':')
        && port.bytes().all(|b| b.is_ascii_digit())
    {
        return host.strip_prefix("api-").unwrap_or(host);
    }
    // kubeadm and k0s: USER@NAME; eksctl: USER@NAME.REGION.eksctl.io
    let name = context.rsplit_once('@').map_or(context, |(_, name)| name);
    name.strip_suffix(".eksctl.io").unwrap_or(name)
}

fn from_host(server: &Url) -> Option<String> {
    let host = server.host()?;
    let name = match host {
        url::Host::Domain(name) => {
            let labels: Vec<&str> = name.split('.').collect();
            let telling = labels
                .iter()
                .position(|l| !matches!(*l, "api" | "k8s" | "kube" | "apiserver" | "kubernetes" | "www"));
            slug(labels[telling.unwrap_or(0)])
        }
        other => slug(&other.to_string()),
    };
    (!name.is_empty()).then_some(name)
}

/// Lower case letters, digits and single dashes, at most 63, beginning and ending alphanumeric.
fn slug(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(MAX_LABEL);
    out.trim_end_matches('-').to_owned()
}

/// Who runs the cluster, by the server's domain or by how the provider's tool names contexts.
pub fn provider(context: &str, server: Option<&Url>) -> Option<&'static str> {
    const DOMAINS: [(&str, &str); 14] = [
        (".eks.amazonaws.com", "eks"),
        (".eks.amazonaws.com.cn", "eks"),
        (".azmk8s.io", "aks"),
        (".gke.goog", "gke"),
        (".k8s.ondigitalocean.com", "doks"),
        (".vultr-k8s.com", "vultr"),
        (".linodelke.net", "lke"),
        (".k8s.civo.com", "civo"),
        (".k8s.ovh.net", "ovh"),
        (".scw.cloud", "scaleway"),
        (".containers.cloud.ibm.com", "iks"),
        (".containers.appdomain.cloud", "iks"),
        (".oraclecloud.com", "oke"),
        (".k8s.coreweave.com", "coreweave"),
    ];
    const CONTEXTS: [(&str, &str); 10] = [
        ("arn:aws:eks:", "eks"),
        ("gke_", "gke"),
        ("connectgateway_", "gke"),
        ("do-", "doks"),
        ("kind-", "kind"),
        ("k3d-", "k3d"),
        ("minikube", "minikube"),
        ("docker-desktop", "docker-desktop"),
        ("rancher-desktop", "rancher-desktop"),
        ("microk8s", "microk8s"),
    ];
    let host = server.and_then(Url::host_str).unwrap_or_default().to_ascii_lowercase();
    if let Some((_, provider)) = DOMAINS.iter().find(|(domain, _)| host.ends_with(domain)) {
        return Some(provider);
    }
    if let Some((_, provider)) = CONTEXTS.iter().find(|(prefix, _)| context.starts_with(prefix)) {
        return Some(provider);
    }
    if context.contains(".eksctl.io") {
        return Some("eks");
    }
    if server.is_some_and(|url| url.path().starts_with("/k8s/clusters/")) {
        return Some("rancher");
    }
    let parts: Vec<&str> = context.split('/').collect();
    let openshift =
        matches!(parts[..], [_, host, _] if host.rsplit_once(':').is_some_and(|(_, port)| port == "6443"));
    openshift.then_some("openshift")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_is_what_people_call_the_cluster() {
        let server = Url::parse("https://api.north.example.com:6443").ok();
        for (context, cluster, wanted) in [
            ("arn:aws:eks:eu-west-1:123456789012:cluster/Prod_A", "", "prod-a"),
            ("gke_my-project_europe-west4-a_train_1", "", "train-1"),
            ("default/api-crc-testing:6443/developer", "", "crc-testing"),
            ("/api-crc-testing:6443/developer", "", "crc-testing"),
            ("kubernetes-admin@lab", "", "lab"),
            ("ops@gpu.eu-west-1.eksctl.io", "", "gpu-eu-west-1"),
            ("default", "default", "north"),
            ("default", "edge", "edge"),
            ("//gkemulticloud.googleapis.com/projects/p/locations/l/awsClusters/burst", "", "burst"),
            ("C:\\Users\\me", "", "c-users-me"),
            ("-._", "", "north"),
            ("ümläut", "", "ml-ut"),
        ] {
            assert_eq!(suggest(context, cluster, server.as_ref()), wanted, "{context}");
        }
        assert_eq!(suggest("", "", None), "cluster");
        assert_eq!(suggest(&"a-".repeat(60), "", None).len(), 63);
    }
}

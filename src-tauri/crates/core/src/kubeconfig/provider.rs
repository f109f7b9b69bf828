//! Who runs the cluster or which distribution it is, where the file tells: by the server's domain, by how the
//! provider's tool names contexts, or by how the distribution names its authority.
//!
//! Deliberately absent: asking the cluster, and a guess where nothing tells.

use url::Url;

/// Domains that providers give to API servers.
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

/// How tools begin the names of contexts.
const CONTEXTS: [(&str, &str); 9] = [
    ("arn:aws:eks:", "eks"),
    ("arn:aws-cn:eks:", "eks"),
    ("arn:aws-us-gov:eks:", "eks"),
    ("gke_", "gke"),
    ("connectgateway_", "gke"),
    ("kind-", "kind"),
    ("k3d-", "k3d"),
    ("docker-desktop", "docker-desktop"),
    ("rancher-desktop", "rancher-desktop"),
];

/// How distributions begin the common name of the authority that signs the API server's certificate.
const AUTHORITIES: [(&str, &str); 5] = [
    ("k3s-server-ca", "k3s"),
    ("rke2-server-ca", "rke2"),
    ("minikubeCA", "minikube"),
    ("kube-apiserver-lb-signer", "openshift"),
    ("kube-apiserver-localhost-signer", "openshift"),
];

/// The provider, where the file tells.
pub fn detect(context: &str, server: Option<&Url>, authority: Option<&str>) -> Option<&'static str> {
    let host = server.and_then(Url::host_str).unwrap_or_default().to_ascii_lowercase();
    let by_host = DOMAINS.iter().find(|(domain, _)| host.ends_with(domain));
    let by_context = CONTEXTS.iter().find(|(prefix, _)| context.starts_with(prefix));
    let by_authority =
        AUTHORITIES.iter().find(|(prefix, _)| authority.is_some_and(|subject| subject.starts_with(prefix)));
    if let Some((_, provider)) = by_host.or(by_context).or(by_authority) {
        return Some(provider);
    }
    if context.ends_with(".eksctl.io") {
        Some("eks")
    } else if server.is_some_and(|url| url.path().starts_with("/k8s/clusters/")) {
        Some("rancher")
    } else if matches!(context, "minikube" | "microk8s") {
        Some(if context == "minikube" { "minikube" } else { "microk8s" })
    } else if is_openshift(context) {
        Some("openshift")
    } else {
        is_doks(context).then_some("doks")
    }
}

/// `oc login` names contexts NAMESPACE/HOST-WITH-DASHES:6443/USER.
fn is_openshift(context: &str) -> bool {
    let parts: Vec<&str> = context.split('/').collect();
    matches!(parts[..], [_, host, _] if host.rsplit_once(':').is_some_and(|(_, port)| port == "6443"))
}

/// doctl names contexts do-REGION-NAME, and regions are three letters and a digit.
fn is_doks(context: &str) -> bool {
    let region = context.strip_prefix("do-").and_then(|rest| rest.split_once('-')).map(|(region, _)| region);
    region.is_some_and(|region| {
        matches!(region.as_bytes(), [a, b, c, d] if [a, b, c].iter().all(|l| l.is_ascii_lowercase()) && d.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_is_told_by_server_context_or_authority() {
        for (context, server, authority, wanted) in [
            ("a", "https://ABC.gr7.eu-west-1.eks.amazonaws.com", "kubernetes", Some("eks")),
            ("a", "https://x-dns-1234.hcp.westeurope.azmk8s.io:443", "ca", Some("aks")),
            ("arn:aws-cn:eks:cn-north-1:1:cluster/x", "https://10.0.0.1", "", Some("eks")),
            ("gke_p_z_c", "https://34.1.2.3", "", Some("gke")),
            ("do-fra1-prod", "https://10.0.0.1", "", Some("doks")),
            ("do-not-touch", "https://10.0.0.1", "", None),
            ("default", "https://10.0.0.1:6443", "k3s-server-ca@1700000000", Some("k3s")),
            ("default", "https://10.0.0.1:6443", "rke2-server-ca@1700000000", Some("rke2")),
            ("lab", "https://192.168.49.2:8443", "minikubeCA", Some("minikube")),
            ("admin", "https://api.x.example.com:6443", "kube-apiserver-lb-signer", Some("openshift")),
            (
                "default/api-x-example-com:6443/kube:admin",
                "https://api.x.example.com:6443",
                "",
                Some("openshift"),
            ),
            ("local", "https://rancher.example.com/k8s/clusters/c-m-1", "", Some("rancher")),
            ("prod", "https://api.example.com:6443", "kubernetes", None),
            ("a", "https://eks.amazonaws.com.example.com", "", None),
        ] {
            let url = Url::parse(server).ok();
            assert_eq!(detect(context, url.as_ref(), Some(authority)), wanted, "{context} at {server}");
        }
    }
}

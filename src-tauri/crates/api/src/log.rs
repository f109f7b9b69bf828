//! What may be logged.

/// A filter for the wanted level, with the targets turned off that print bodies or headers of requests: they carry
/// tokens and kubeconfigs. The client library logs a whole answer that it cannot parse, and HTTP libraries log headers
/// at their finest level.
pub fn log_filter(wanted: &str) -> String {
    const SILENT: [&str; 8] = [
        "kube_client=off",
        "kube=off",
        "hyper=off",
        "hyper_util=off",
        "reqwest=off",
        "h2=off",
        "rustls=off",
        "tower=off",
    ];
    let silent = SILENT.join(",");
    if wanted.trim().is_empty() { format!("warn,{silent}") } else { format!("{wanted},{silent}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_that_print_bodies_stay_silent_whatever_is_asked_for() {
        let filter = log_filter("trace,hyper=trace,kube_client=trace");
        let last = |target: &str| filter.split(',').rfind(|part| part.starts_with(target)).map(str::to_owned);
        assert_eq!(last("hyper="), Some("hyper=off".into()), "the last directive of a target counts");
        assert_eq!(last("kube_client="), Some("kube_client=off".into()));
    }
}

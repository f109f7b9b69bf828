//! What a person can do about a refusal: in words, and where it helps, in commands to copy.
//!
//! Invariant: every command names its context, so that none of them acts on whatever cluster happens to be current; a
//! name is put into a command only where a shell takes it literally. Deliberately absent: running any of it.

use super::refusal::Refusal;
use crate::endpoint::AllowedBy;

impl Refusal {
    /// What the person can do.
    pub fn way_out(&self) -> &'static str {
        match self {
            Self::Empty | Self::NotAKubeconfig { .. } => {
                "Drop the kubeconfig file itself; kubectl keeps it at ~/.kube/config unless told otherwise."
            }
            Self::TooLarge { .. } | Self::TooManyContexts { .. } => {
                "Write the one context you want to a file of its own and drop that."
            }
            Self::YamlBomb => "Write the kubeconfig out anew with kubectl, which leaves no aliases in it.",
            Self::NoContext => "Write the context you use with kubectl into a file and drop that.",
            Self::NoCurrentContext => {
                "Register the cluster again from a file with the one context that is meant."
            }
            Self::Malformed { found: "a number" | "true or false", .. } => {
                "Write the value in quotes; kubectl refuses it without them too."
            }
            Self::Malformed { .. }
            | Self::DanglingReference { .. }
            | Self::NoReference { .. }
            | Self::DuplicateName { .. } => {
                "Mend the file, or write the context out with kubectl, which shows the same fault."
            }
            Self::ExecPlugin { .. }
            | Self::AuthProvider { .. }
            | Self::NoCredential { .. }
            | Self::BasicAuth
            | Self::Impersonation
            | Self::KeyEncrypted => {
                "Make a ServiceAccount with the rights you want to share and register its token: the commands write it to a file to drop here and then delete."
            }
            Self::FilePath { .. } => "Embed the material into the file with --flatten and drop the result.",
            Self::InsecureTls => {
                "Remove insecure-skip-tls-verify and put the cluster's CA into certificate-authority-data."
            }
            Self::NotHttps => "Use the https address of the API server.",
            Self::BadServer { .. } => {
                "Write the address as https://HOST:PORT, as `kubectl cluster-info` prints it."
            }
            Self::BadTlsServerName => {
                "Write a name that the server's certificate carries, without scheme, port or asterisk, or leave the field out."
            }
            Self::Userinfo { .. } => "Take the user name and password out of the address.",
            Self::AddressRefused { refused, .. } => match refused.allowed_by {
                AllowedBy::Private => {
                    "Use the cluster's public address, or ask who keeps the deployment file for endpoint_policy = \"private\"."
                }
                AllowedBy::Any => {
                    "Use the address that your network reaches the API server at; for a cluster on this computer, the deployment file needs endpoint_policy = \"any\"."
                }
                AllowedBy::None => "Use the address that your network reaches the API server at.",
            },
            Self::BadProxy { .. } => "Write the proxy as http://HOST:PORT or socks5://HOST:PORT.",
            Self::BadToken { .. } => {
                "Put the token itself into the field, as `kubectl create token` prints it."
            }
            Self::BadBase64 { .. } => {
                "Write the field as base64 text on one line, without a !!binary tag or a placeholder; kubectl does it."
            }
            Self::BadPem { .. } => {
                "Write the file out anew with kubectl, which embeds the material in PEM form."
            }
            Self::Redacted { .. } => "Print it again with --raw.",
            Self::KeyMismatch => "Take certificate and key from the same issue, or write the file out anew.",
            Self::CredentialExpired { .. } => "Fetch a new credential for the cluster and drop the new file.",
            Self::CredentialNotYetValid { .. } | Self::CaNotYetValid { .. } => {
                "Check this computer's clock; otherwise wait until then."
            }
            Self::LeafAsCa { .. } => {
                "Put the certificate of the authority that signed it (the last one `openssl s_client -showcerts` prints) into the field."
            }
            Self::CaExpired { .. } => "Ask who runs the cluster for its current CA certificate.",
        }
    }

    /// Commands that help, where there are any, for this context; without one (or with one that a shell would not take
    /// literally) the word `CONTEXT` stands where the person writes it.
    pub fn command(&self, context: Option<&str>) -> Option<String> {
        let context = context.and_then(shell_word).unwrap_or_else(|| "CONTEXT".to_owned());
        let write_out =
            format!("kubectl config view --raw --flatten --minify --context={context} > to-register.yaml");
        match self {
            Self::Empty
            | Self::NotAKubeconfig { .. }
            | Self::TooLarge { .. }
            | Self::TooManyContexts { .. }
            | Self::YamlBomb
            | Self::NoContext
            | Self::Malformed { .. }
            | Self::DanglingReference { .. }
            | Self::NoReference { .. }
            | Self::DuplicateName { .. }
            | Self::FilePath { .. }
            | Self::BadBase64 { .. }
            | Self::BadPem { .. }
            | Self::Redacted { .. } => Some(write_out),
            Self::ExecPlugin { .. }
            | Self::AuthProvider { .. }
            | Self::NoCredential { .. }
            | Self::Impersonation
            | Self::KeyEncrypted
            | Self::BasicAuth => Some(service_account(&context, &write_out)),
            _ => None,
        }
    }
}

/// Makes a ServiceAccount that may view everything but Secrets, and a kubeconfig that holds its token alone. `$(...)`
/// inside double quotes means the same to sh, zsh and PowerShell.
fn service_account(context: &str, write_out: &str) -> String {
    let kubectl = format!("kubectl --context={context}");
    [
        format!("{kubectl} create serviceaccount muster -n kube-system"),
        format!("{kubectl} create clusterrolebinding muster-view --clusterrole=view --serviceaccount=kube-system:muster"),
        format!("{kubectl} create clusterrole muster-nodes --verb=get,list,watch --resource=nodes"),
        format!(
            "{kubectl} create clusterrolebinding muster-nodes --clusterrole=muster-nodes --serviceaccount=kube-system:muster"
        ),
        write_out.to_owned(),
        format!(
            "kubectl --kubeconfig=to-register.yaml config set-credentials muster --token=\"$({kubectl} create token muster -n kube-system --duration=8760h)\""
        ),
        "kubectl --kubeconfig=to-register.yaml config set-context --current --user=muster".to_owned(),
    ]
    .join("\n")
}

/// A name as one literal word of sh, zsh or PowerShell; `None` where no quoting means the same to all of them.
fn shell_word(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@+=".contains(c);
    // PowerShell takes typographic quotes for quotes.
    let quotes = ['\'', '"', '‘', '’', '‚', '‛', '“', '”', '„'];
    if name.is_empty() || name.contains(quotes) || super::printable::printable(name) != name {
        None
    } else if name.chars().all(plain) {
        Some(name.to_owned())
    } else {
        Some(format!("'{name}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEC: fn() -> Refusal = || Refusal::ExecPlugin { command: "aws".into() };

    #[test]
    fn every_command_that_touches_a_cluster_names_its_context() {
        let commands = EXEC().command(Some("prod")).unwrap_or_default();
        for line in commands.lines().filter(|line| !line.starts_with("kubectl --kubeconfig=to-register.yaml"))
        {
            assert!(line.contains("--context=prod"), "{line}");
        }
        assert!(
            commands.contains("$(kubectl --context=prod create token"),
            "the token is of the same cluster"
        );
    }

    #[test]
    fn a_context_name_cannot_smuggle_a_command_into_the_shell() {
        for (name, word) in [
            ("arn:aws:eks:eu-west-1:1:cluster/x", "arn:aws:eks:eu-west-1:1:cluster/x"),
            ("a b", "'a b'"),
            ("$(reboot)", "'$(reboot)'"),
            ("`reboot`", "'`reboot`'"),
            ("a;reboot", "'a;reboot'"),
            ("C:\\x", "'C:\\x'"),
            ("'; reboot; '", "CONTEXT"),
            ("a\nreboot", "CONTEXT"),
            ("’; reboot; ‘", "CONTEXT"),
            ("", "CONTEXT"),
        ] {
            let command = Refusal::NoContext.command(Some(name)).unwrap_or_default();
            assert!(command.contains(&format!("--context={word} >")), "{name:?} became {command}");
        }
    }
}

use super::*;

const GOOD: &str = r#"
title = "Orchard"
issuer = "https://id.orchard.example"
client_id = "muster"

[kms]
kind = "vault"
url = "https://kms.orchard.example:8200"
"#;

#[test]
fn a_short_file_is_enough() {
    let deployment = Deployment::parse("orchard", GOOD).expect("it is good");
    assert_eq!(deployment.issuer_text(), "https://id.orchard.example");
    assert_eq!(deployment.kms.role, "muster-{org}");
    assert_eq!(deployment.endpoint_policy, EndpointPolicy::Private);
    assert_eq!(deployment.effective_scopes(), ["openid", "profile", "email", "offline_access"]);
}

#[test]
fn every_mistake_is_named_with_its_line() {
    for (from, to, line, says) in [
        ("client_id", "clientid", 4, "clientid"),
        ("url = \"https://kms", "url = \"http://kms", 8, "https"),
        ("kind = \"vault\"", "kind = \"valt\"", 7, "valt"),
        ("issuer = \"https://id.", "issuer = \"https://me:pw@id.", 3, "user name"),
        ("title = \"Orchard\"", "title = 5", 2, "string"),
        ("[kms]", "[kms", 6, ""),
    ] {
        let text = GOOD.replace(from, to);
        match Deployment::parse("x", &text) {
            Err(DeploymentError::Invalid { line: found, message }) => {
                assert_eq!(found, line, "{message}");
                assert!(message.contains(says), "{message} does not say {says}");
            }
            other => panic!("{to} gave {other:?}"),
        }
    }
}

#[test]
fn a_deployment_cannot_name_an_org() {
    assert!(Deployment::parse("x", &format!("org = \"acme\"\n{GOOD}")).is_err());
}

#[test]
fn an_id_cannot_climb_out_of_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let outside = folder.path().join("outside.toml");
    std::fs::write(&outside, GOOD).expect("a file");
    let inner = DeploymentFolder::new(folder.path().join("deployments"));
    inner.import(&outside).expect("it is good");
    assert!(inner.remove("../outside").is_err());
    assert!(outside.exists());
    assert!(inner.remove("outside").is_ok());
    assert!(inner.list().is_empty());
}

#[test]
fn a_value_that_could_never_work_is_named_with_its_line() {
    for (after, line, says) in [
        ("client_id = \"\"", 4, "empty"),
        ("scopes = [\"profile\"]", 5, "openid"),
        ("scopes = [\"openid profile\"]", 5, "blanks"),
        ("redirect_host = \"0.0.0.0\"", 5, "127.0.0.1"),
        ("redirect_host = \"login.example\"", 5, "127.0.0.1"),
        ("redirect_ports = [0]", 5, "port 0"),
        ("redirect_ports = [70000]", 5, "70000"),
        ("ca = \"not PEM\"", 5, "PEM"),
        ("org_claim = { pointers = [] }", 5, "pointer"),
        ("org_claim = { pointers = [\"org\"] }", 5, "JSON pointer"),
        ("org_claim = { pointers = [\"/a~b\"] }", 5, "JSON pointer"),
        ("org_claim = { pointers = [\"/org\"], shape = \"keys\" }", 5, "keys"),
        ("org_claim = { pointers = [\"/org\"], default = \"acme\" }", 5, "default"),
        ("endpoint_policy = \"all\"", 5, "all"),
        ("preset = \"okra\"", 5, "okra"),
    ] {
        let text = if after.starts_with("client_id") {
            GOOD.replace("client_id = \"muster\"", after)
        } else {
            GOOD.replace("client_id = \"muster\"", &format!("client_id = \"muster\"\n{after}"))
        };
        assert_invalid(&text, line, says);
    }
}

#[test]
fn a_kms_path_that_a_server_would_resolve_elsewhere_is_refused() {
    for (setting, says) in [
        ("mount = \"kv/../sys\"", "mount"),
        ("mount = \"/kv\"", "mount"),
        ("mount = \"kv//x\"", "mount"),
        ("mount = \"\"", "mount"),
        ("mount = \"kv?list=true\"", "mount"),
        ("auth_mount = \"jwt%2F..\"", "mount"),
        ("role = \"muster-{name}\"", "{org}"),
        ("kind_of = \"x\"", "kind_of"),
        ("ca = \"-----BEGIN CERTIFICATE-----\"", "PEM"),
    ] {
        assert_invalid(&format!("{GOOD}{setting}\n"), 9, says);
    }
    let good = format!("{GOOD}mount = \"teams/kv-2\"\nrole = \"{{org}}-muster\"\n");
    assert!(Deployment::parse("x", &good).is_ok());
}

#[test]
fn a_private_key_in_the_file_is_refused_and_not_repeated() {
    let authority = rcgen::generate_simple_self_signed(vec!["id.example".into()]).expect("a certificate");
    let (certificate, key) = (authority.cert.pem(), authority.signing_key.serialize_pem());
    let with = |pem: &str| Deployment::parse("x", &format!("ca = '''{pem}'''\n{GOOD}"));
    assert!(with(&certificate).is_ok());
    let Err(refused) = with(&format!("{certificate}{key}")) else { panic!("a private key passed") };
    let secret = key.lines().nth(1).expect("a line of the key");
    assert!(refused.to_string().contains("private key") && !refused.to_string().contains(secret));
}

#[test]
fn an_error_never_shows_a_password_of_an_address() {
    let text = GOOD.replace("https://kms", "https://me:hunter2@kms");
    let Err(refused) = Deployment::parse("x", &text) else { panic!("it passed") };
    assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{refused}");
}

#[test]
fn the_issuer_is_kept_letter_for_letter() {
    for issuer in ["https://id.example", "https://id.example/", "https://ID.example/Realm%20x"] {
        let text = GOOD.replace("https://id.orchard.example", issuer);
        assert_eq!(Deployment::parse("x", &text).expect("it is good").issuer_text(), issuer);
    }
}

#[test]
fn every_preset_has_scopes_and_a_place_for_the_org() {
    for preset in ["hanzo", "keycloak", "entra", "okta", "auth0", "zitadel", "google", "dex"] {
        let text = format!("preset = \"{preset}\"\n{GOOD}");
        let deployment = Deployment::parse("x", &text).expect("it is good");
        assert!(deployment.effective_scopes().contains(&"openid".to_owned()), "{preset}");
        assert!(deployment.effective_org_claim().pointers.iter().all(|p| p.starts_with('/')), "{preset}");
        let own = format!("scopes = [\"openid\"]\norg_claim = {{ pointers = [\"/x\"] }}\n{text}");
        let own = Deployment::parse("x", &own).expect("it is good");
        assert_eq!(own.effective_scopes(), ["openid"], "the file wins over the preset");
        assert_eq!(own.effective_org_claim().pointers, ["/x"], "the file wins over the preset");
    }
}

#[test]
fn an_imported_file_is_listed_whatever_its_extension_and_replaced_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let dropped = folder.path().join("orchard.txt");
    let inner = DeploymentFolder::new(folder.path().join("deployments"));
    std::fs::write(&dropped, GOOD).expect("a file");
    inner.import(&dropped).expect("it is good");
    std::fs::write(&dropped, GOOD.replace("Orchard", "Orchard 2")).expect("a file");
    inner.import(&dropped).expect("it is good");
    let listed = inner.list();
    assert_eq!(listed.len(), 1, "no partial file is listed");
    assert_eq!(inner.get("orchard").expect("it is there").title, "Orchard 2");
    std::fs::write(&dropped, "nonsense").expect("a file");
    assert!(inner.import(&dropped).is_err());
    assert_eq!(inner.get("orchard").expect("it is still there").title, "Orchard 2");
}

#[test]
fn what_is_no_deployment_file_is_refused_without_reading_it_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = DeploymentFolder::new(folder.path().join("deployments"));
    let huge = folder.path().join("huge.toml");
    std::fs::write(&huge, vec![b'#'; 70_000]).expect("a file");
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe]).expect("a file");
    for file in [&huge, &binary, &folder.path().to_owned(), &folder.path().join("absent.toml")] {
        assert_eq!(inner.import(file).err().map(|error| error.code()), Some("deployment_file"), "{file:?}");
    }
    #[cfg(unix)]
    assert!(inner.import(std::path::Path::new("/dev/zero")).is_err(), "a device has no end");
}

fn assert_invalid(text: &str, line: usize, says: &str) {
    match Deployment::parse("x", text) {
        Err(DeploymentError::Invalid { line: found, message }) => {
            assert!(message.contains(says), "{message} does not say {says}");
            assert_eq!(found, line, "{message}");
        }
        other => panic!("{says} gave {other:?}"),
    }
}

//! The rules of the kubeconfig gate that depend on time, on several contexts, or on how an address is spelled. What one
//! file as a whole is judged as stands in `kubeconfig_cases.rs`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use muster_core::endpoint::EndpointPolicy::{self, Any, Private, Public};
use muster_core::kubeconfig::{Context, Inspection, SafeKubeconfig, inspect};
use serde_json::{Value, json};

fn now() -> Timestamp {
    "2026-12-01T12:00:00Z".parse().expect("a date")
}

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

/// A kubeconfig of one context; JSON is YAML.
fn file(cluster: Value, user: Value) -> Vec<u8> {
    let document = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    });
    document.to_string().into_bytes()
}

fn judged(file: &[u8], policy: EndpointPolicy) -> Inspection {
    inspect(file, policy, now()).expect("it is a kubeconfig")
}

fn codes(context: &Context) -> Vec<&'static str> {
    context.refusals.iter().map(|refusal| refusal.code()).collect()
}

fn warnings(context: &Context) -> Vec<&'static str> {
    context.warnings.iter().map(|warning| warning.code()).collect()
}

fn server_codes(server: &str, policy: EndpointPolicy) -> Vec<&'static str> {
    codes(&judged(&file(json!({"server": server}), json!({"token": "abc"})), policy).contexts()[0])
}

fn proxy_codes(proxy: &str, policy: EndpointPolicy) -> Vec<&'static str> {
    let cluster = json!({"server": "https://api.example.com", "proxy-url": proxy});
    codes(&judged(&file(cluster, json!({"token": "abc"})), policy).contexts()[0])
}

fn jwt(claims: Value) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

#[test]
fn a_server_address_is_what_it_says_or_is_refused() {
    for server in [
        "https://api.example.com",
        "https://api.example.com:6443/",
        "https://API.Example.COM.:6443",
        "https://api_internal.example.com",
        "https://[2606:4700::1]:6443",
        "https://8.8.8.8",
        "https://rancher.example.com/k8s/clusters/c-1",
        "https://köln.example.com",
    ] {
        assert_eq!(server_codes(server, Private), [""; 0], "{server}");
    }
    for server in [
        "",
        "api.example.com",
        "192.168.1.135:8001",
        "api.example.com:6443",
        "https:api.example.com",
        "https:/api.example.com",
        "https:///api.example.com",
        "https://:8100",
        "https://",
        "https://https://api.example.com:443",
        "https://http://api.example.com",
        "https://api.example.com:99999",
        "https://api.example.com:0",
        "https://api.example.com?x=1",
        "https://api.example.com/#x",
        "https://api.exa\tmple.com",
        "https://api.exa\nmple.com",
        "https://api example.com",
        "https://api.example.com\\@evil.example.com",
        "https:\\\\api.example.com",
        "https://a..b",
        "https://-a.example.com",
        "https://*.example.com",
        "https://[fe80::1%25eth0]:6443",
        "unix:///var/run/api.sock",
        "ftp://api.example.com",
        "file:///etc/passwd",
        "javascript://api.example.com",
    ] {
        assert!(
            server_codes(server, Any).contains(&"bad_server"),
            "{server:?}: {:?}",
            server_codes(server, Any)
        );
    }
}

#[test]
fn no_spelling_of_a_refused_address_passes() {
    for server in [
        "https://169.254.169.254",
        "https://169.254.169.254.",
        "https://2852039166",
        "https://0xa9fea9fe",
        "https://0251.0376.0251.0376",
        "https://169.254.43518",
        "https://169.16689662",
        "https://%31%36%39.254.169.254",
        "https://①⑥⑨.254.169.254",
        "https://169。254。169。254",
        "https://[::ffff:169.254.169.254]",
        "https://[::ffff:a9fe:a9fe]",
        "https://[::169.254.169.254]",
        "https://[64:ff9b::169.254.169.254]",
        "https://[2002:a9fe:a9fe::]",
        "https://[fd00:ec2::254]",
        "https://[fe80::1]",
        "https://[::]",
        "https://0",
        "https://0.0.0.0",
        "https://255.255.255.255",
        "https://224.0.0.1",
        "https://100.100.100.200",
        "https://168.63.129.16",
        "https://Metadata.Google.Internal",
        "https://metadata.google.internal.",
    ] {
        assert_eq!(server_codes(server, Any), ["address_refused"], "{server}");
        let proxy = server.replacen("https", "socks5", 1);
        assert_eq!(proxy_codes(&proxy, Any), ["address_refused"], "{proxy}");
    }
    for server in [
        "https://127.0.0.1:6443",
        "https://127.1",
        "https://2130706433",
        "https://0x7f000001",
        "https://0177.0.0.1",
        "https://[::1]",
        "https://[::ffff:127.0.0.1]",
        "https://localhost",
        "https://LOCALHOST.",
        "https://x.localhost:6443",
        "https://ip6-localhost",
    ] {
        assert_eq!(server_codes(server, Any), [""; 0], "{server}");
        for policy in [Public, Private] {
            assert_eq!(server_codes(server, policy), ["address_refused"], "{server} under {policy:?}");
        }
    }
    assert_eq!(server_codes("https://10.0.0.1", Public), ["address_refused"]);
    assert_eq!(server_codes("https://10.0.0.1", Private), [""; 0]);
}

#[test]
fn a_proxy_is_judged_like_a_server() {
    for proxy in [
        "http://proxy.example.com:3128",
        "http://10.1.2.3:3128/",
        "socks5://proxy.example.com",
        "socks5://[2606:4700::1]:1080",
    ] {
        assert_eq!(proxy_codes(proxy, Private), [""; 0], "{proxy}");
    }
    for proxy in [
        "proxy.example.com:3128",
        "ftp://proxy.example.com",
        "https://proxy.example.com",
        "socks4://proxy.example.com",
        "socks5h://proxy.example.com",
        "http://",
        "socks5://",
        "socks5:///x",
        "socks5://%zz:1080",
        "http://proxy.example.com/path",
        "socks5://proxy.example.com?x",
    ] {
        assert_eq!(proxy_codes(proxy, Any), ["bad_proxy"], "{proxy}");
    }
    assert_eq!(proxy_codes("http://ops:secret@proxy.example.com", Any), ["userinfo"]);
    assert_eq!(proxy_codes("socks5://ops@proxy.example.com", Any), ["userinfo"]);
    assert_eq!(proxy_codes("socks5://127.0.0.1:1080", Private), ["address_refused"]);
    assert_eq!(proxy_codes("http://localhost:3128", Private), ["address_refused"]);
    assert_eq!(proxy_codes("socks5://2130706433:1080", Private), ["address_refused"]);
}

#[test]
fn a_token_issued_a_moment_ago_by_a_clock_ahead_of_ours_is_good() {
    let at = |nbf: SignedDuration| {
        let token = jwt(json!({"nbf": (now() + nbf).as_second(), "exp": (now() + hours(9000)).as_second()}));
        codes(
            &judged(&file(json!({"server": "https://a.example"}), json!({"token": token})), Private)
                .contexts()[0],
        )
    };
    assert_eq!(at(SignedDuration::from_mins(4)), [""; 0]);
    assert_eq!(at(SignedDuration::from_mins(6)), ["credential_not_yet_valid"]);
}

#[test]
fn a_credential_is_refused_from_its_last_second_on_and_warned_about_before() {
    let with = |left: SignedDuration| {
        let token = jwt(json!({"exp": (now() + left).as_second()}));
        let file = file(json!({"server": "https://a.example"}), json!({"token": token}));
        let context = judged(&file, Private).contexts()[0].clone();
        (codes(&context), warnings(&context), context.expires)
    };
    assert_eq!(with(hours(0)), (vec!["credential_expired"], vec![], Some(now())));
    assert_eq!(with(hours(1)), (vec![], vec!["expires_soon"], Some(now() + hours(1))));
    assert_eq!(with(hours(31 * 24)), (vec![], vec![], Some(now() + hours(31 * 24))));
}

#[test]
fn a_sealed_credential_that_expired_since_is_refused_by_its_own_code() {
    let token = jwt(json!({"exp": (now() + hours(1)).as_second()}));
    let file = file(json!({"server": "https://a.example"}), json!({"token": token}));
    let sealed = judged(&file, Private).cut("x", now()).expect("it is good now");
    let later = SafeKubeconfig::admit(sealed.text().as_bytes(), Private, now() + hours(2));
    assert_eq!(later.expect_err("it is over").0[0].code(), "credential_expired");
    let cut_later = judged(&file, Private).cut("x", now() + hours(2));
    assert_eq!(cut_later.expect_err("a file may be staged for long").0[0].code(), "credential_expired");
}

/// As the original service seals a file: whole.
fn several(current: Option<&str>) -> Vec<u8> {
    json!({
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": "https://a.example"}}, {"name": "b", "cluster": {"server": "https://b.example"}}],
        "users": [{"name": "u", "user": {"token": "canary-used"}}, {"name": "v", "user": {"token": "canary-other"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "v"}}, {"name": "b", "context": {"cluster": "b", "user": "u"}}],
        "current-context": current,
        "preferences": {"colors": "canary-preferences"},
        "extensions": [{"name": "x", "extension": "canary-extension"}],
    })
    .to_string()
    .into_bytes()
}

#[test]
fn of_several_sealed_contexts_the_current_one_counts() {
    let admitted = SafeKubeconfig::admit(&several(Some("b")), Private, now()).expect("it is good");
    assert_eq!(admitted.endpoint(), "b.example:443");
    for current in [None, Some("c"), Some("")] {
        let refused =
            SafeKubeconfig::admit(&several(current), Private, now()).expect_err("which one is not said");
        assert_eq!(refused.0[0].code(), "no_current_context", "{current:?}");
    }
}

#[test]
fn a_cut_holds_nothing_of_other_contexts_and_prints_nothing_of_its_own() {
    let cut = judged(&several(None), Private).cut("b", now()).expect("it is good");
    assert!(cut.text().contains("canary-used"));
    for foreign in ["canary-other", "canary-preferences", "canary-extension", "a.example"] {
        assert!(!cut.text().contains(foreign), "{foreign} was sealed unread");
    }
    assert!(!format!("{cut:?}").contains("canary"));
}

#[test]
fn a_context_is_cut_by_its_key_never_by_how_another_one_prints() {
    let document = json!({
        "kind": "Config",
        "clusters": [{"name": "a", "cluster": {"server": "https://a.example"}}, {"name": "b", "cluster": {"server": "https://b.example"}}],
        "users": [{"name": "u", "user": {"token": "abc"}}],
        "contexts": [{"name": "x\u{7}", "context": {"cluster": "a", "user": "u"}}, {"name": "x\\u{7}", "context": {"cluster": "b", "user": "u"}}],
    });
    let inspection = judged(document.to_string().as_bytes(), Private);
    let [first, second] = inspection.contexts() else { panic!("there are two") };
    assert_eq!([&first.name, &second.name], ["x\\u{7}", "x\\u{7} (2)"], "what prints alike is told apart");
    assert_eq!(inspection.cut(&second.key, now()).expect("it is good").endpoint(), "b.example:443");
    assert_eq!(inspection.cut(&first.key, now()).expect("it is good").endpoint(), "a.example:443");
    assert!(inspection.cut("y", now()).is_err());
}

#[test]
fn two_contexts_of_one_name_are_both_refused() {
    let mut document: Value = serde_json::from_slice(&several(Some("a"))).expect("it is JSON");
    document["contexts"][1]["name"] = json!("a");
    let file = document.to_string();
    for context in judged(file.as_bytes(), Private).contexts() {
        assert_eq!(codes(context), ["duplicate_name"]);
    }
    let refused = SafeKubeconfig::admit(file.as_bytes(), Private, now()).expect_err("which one is not clear");
    assert_eq!(refused.0[0].code(), "duplicate_name");
}

#[test]
fn names_are_shown_so_that_they_cannot_steer_what_shows_them() {
    let mut document: Value = serde_json::from_slice(&several(None)).expect("it is JSON");
    document["contexts"][0]["name"] = json!("prod\u{1b}[2J\u{202e}");
    document["contexts"][0]["context"]["cluster"] = json!("gone\u{1b}[2J");
    let inspection = judged(document.to_string().as_bytes(), Private);
    let context = &inspection.contexts()[0];
    assert_eq!(context.name, "prod\\u{1b}[2J\\u{202e}");
    let steers = |text: &str| text.contains(['\u{1b}', '\u{202e}']);
    let said: Vec<_> = context.refusals.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("gone") && !said.iter().any(|text| steers(text)), "{said:?}");
}

#[test]
fn more_contexts_than_any_fleet_has_are_not_judged() {
    let document = |count: usize| json!({"kind": "Config", "contexts": vec![json!({}); count]}).to_string();
    let refused = inspect(document(10_001).as_bytes(), Private, now()).map(|_| ()).expect_err("too many");
    assert_eq!(refused.code(), "too_many_contexts");
    assert!(inspect(document(2).as_bytes(), Private, now()).is_ok());
}

/// Judged anew for each context, the certificates alone would be 1.5 GB to read, and this would not end in minutes.
#[test]
fn an_entry_that_many_contexts_name_is_judged_once() {
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = params.self_signed(&rcgen::KeyPair::generate().expect("a key")).expect("a root").pem();
    let bundle = STANDARD.encode(root.repeat(300_000 / root.len()));
    let contexts: Vec<_> = (0..5_000)
        .map(|n| json!({"name": n.to_string(), "context": {"cluster": "c", "user": "u"}}))
        .collect();
    let document = json!({
        "clusters": [{"name": "c", "cluster": {"server": "https://a.example", "certificate-authority-data": bundle}}],
        "users": [{"name": "u", "user": {"token": "abc"}}],
        "contexts": contexts,
    });
    let inspection = judged(document.to_string().as_bytes(), Private);
    assert_eq!(inspection.contexts().len(), 5_000);
    assert!(inspection.contexts().iter().all(|context| context.refusals.is_empty()));
}

#[test]
fn an_authority_that_has_not_begun_is_refused_unless_another_is_in_force() {
    let root = |from: i32, until: i32| {
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.not_before = rcgen::date_time_ymd(from, 1, 1);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        params.self_signed(&rcgen::KeyPair::generate().expect("a key")).expect("a root").pem()
    };
    let codes_of = |bundle: &str| {
        let cluster =
            json!({"server": "https://a.example", "certificate-authority-data": STANDARD.encode(bundle)});
        let inspection = judged(&file(cluster, json!({"token": "abc"})), Private);
        (codes(&inspection.contexts()[0]), warnings(&inspection.contexts()[0]))
    };
    assert_eq!(codes_of(&root(2030, 2040)), (vec!["ca_not_yet_valid"], vec![]));
    assert_eq!(codes_of(&root(2010, 2020)), (vec!["ca_expired"], vec![]));
    assert_eq!(codes_of(&[root(2030, 2040), root(2010, 2020), root(2020, 2028)].concat()), (vec![], vec![]));
    // It ends on 2027-01-01, a month from now in these tests.
    assert_eq!(codes_of(&root(2020, 2027)).0, [""; 0]);
}

#[test]
fn different_clusters_are_never_given_the_same_name() {
    let names = |contexts: &[(&str, &str)]| {
        let clusters: Vec<_> = contexts
            .iter()
            .map(|(_, host)| json!({"name": host, "cluster": {"server": format!("https://{host}")}}))
            .collect();
        let entries: Vec<_> = contexts
            .iter()
            .map(|(name, host)| json!({"name": name, "context": {"cluster": host, "user": "u"}}))
            .collect();
        let document = json!({"clusters": clusters, "users": [{"name": "u", "user": {"token": "abc"}}], "contexts": entries});
        let inspection = judged(document.to_string().as_bytes(), Private);
        inspection.contexts().iter().map(|context| context.suggested_name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&[("gke_stage_z_web", "a.example"), ("gke_prod_z_web", "b.example"), ("other", "c.example")]),
        ["gke-stage-z-web", "gke-prod-z-web", "other"]
    );
    assert_eq!(
        names(&[("a.b", "a.example"), ("a_b", "b.example"), ("a-b", "c.example")]),
        ["a-b", "a-b-2", "a-b-3"]
    );
    let long = "n".repeat(80);
    let (one, two) = (format!("{long}1"), format!("{long}2"));
    let set = names(&[(&one, "a.example"), (&two, "b.example")]);
    assert!(set[0] != set[1] && set.iter().all(|name| name.len() <= 63), "{set:?}");
}

#[test]
fn a_namespace_that_cannot_be_one_is_left_out_and_said() {
    let mut document: Value = serde_json::from_slice(&several(Some("a"))).expect("it is JSON");
    document["contexts"][0]["context"]["namespace"] = json!("../kube-system");
    document["contexts"][1]["context"]["namespace"] = json!("vision");
    let inspection = judged(document.to_string().as_bytes(), Private);
    let [odd, good] = inspection.contexts() else { panic!("there are two") };
    assert_eq!((warnings(odd), odd.namespace.as_deref()), (vec!["bad_namespace"], None));
    assert_eq!((warnings(good), good.namespace.as_deref()), (vec![], Some("vision")));
    assert!(!inspection.cut("a", now()).expect("it is good").text().contains("kube-system"));
}

#[test]
fn a_tls_server_name_is_a_name_that_a_certificate_can_carry() {
    for (name, good) in [
        ("api.example.com", true),
        ("10.0.0.1", true),
        ("::1", true),
        ("a_b", true),
        ("*.example.com", false),
        ("https://a", false),
        ("a:6443", false),
        ("a b", false),
    ] {
        let cluster = json!({"server": "https://a.example", "tls-server-name": name});
        let inspection = judged(&file(cluster, json!({"token": "abc"})), Private);
        assert_eq!(codes(&inspection.contexts()[0]).is_empty(), good, "{name}");
        if good {
            assert_eq!(inspection.cut("x", now()).expect("it is good").tls_server_name(), Some(name));
        }
    }
}

/// What the gate says of an authority has to be what TLS says later: both are asked about the same certificates.
#[test]
fn the_gate_refuses_as_authority_exactly_what_tls_cannot_trust() {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let params = |cn: &str, is_ca: IsCa| {
        let mut params = CertificateParams::new(vec!["api.example.com".to_owned()]).expect("a name");
        params.distinguished_name.push(rcgen::DnType::CommonName, cn);
        params.is_ca = is_ca;
        params
    };
    let key = || KeyPair::generate().expect("a key");
    let (root_key, middle_key, leaf_key, own_key) = (key(), key(), key(), key());
    let ca = || IsCa::Ca(BasicConstraints::Unconstrained);
    let root = params("root", ca()).self_signed(&root_key).expect("a root");
    let root_params = params("root", ca());
    let middle = params("middle", ca())
        .signed_by(&middle_key, &Issuer::from_params(&root_params, &root_key))
        .expect("a middle");
    let middle_params = params("middle", ca());
    let leaf = params("leaf", IsCa::ExplicitNoCa)
        .signed_by(&leaf_key, &Issuer::from_params(&middle_params, &middle_key))
        .expect("a leaf");
    let own = params("own", IsCa::ExplicitNoCa).self_signed(&own_key).expect("a self-signed leaf");
    let plain =
        params("plain", IsCa::NoCa).self_signed(&own_key).expect("a self-signed leaf without the extension");
    for (what, authority, served) in [
        ("its root", &root, &[&leaf, &middle][..]),
        ("its intermediate", &middle, &[&leaf]),
        ("itself, signed by another", &leaf, &[&leaf]),
        ("itself, signed by itself", &own, &[&own]),
        ("itself, without the extension", &plain, &[&plain]),
    ] {
        let data = STANDARD.encode(authority.pem());
        let cluster = json!({"server": "https://api.example.com", "certificate-authority-data": data});
        let gate = codes(&judged(&file(cluster, json!({"token": "abc"})), Private).contexts()[0]);
        assert_eq!(gate.is_empty(), tls_trusts(authority, served), "{what}: the gate says {gate:?}");
    }
}

#[test]
fn an_authority_that_tls_cannot_read_does_not_spoil_the_others() {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let good = params.self_signed(&KeyPair::generate().expect("a key")).expect("a root").pem();
    let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let cut = |pem: &str| {
        let cluster =
            json!({"server": "https://a.example", "certificate-authority-data": STANDARD.encode(pem)});
        judged(&file(cluster, json!({"token": "abc"})), Private).cut("x", now())
    };
    let kept = cut(&format!("{broken}{good}")).expect("one authority is enough");
    assert_eq!(*kept.text(), *cut(&good).expect("it is good").text(), "only what can be used is sealed");
    assert_eq!(cut(broken).expect_err("nothing remains").0[0].code(), "bad_pem");
}

#[test]
fn every_kind_of_client_key_is_paired_with_its_certificate() {
    use rcgen::{CertificateParams, KeyPair};
    let codes_of = |certificate: &str, key: &str| {
        let user = json!({"client-certificate-data": STANDARD.encode(certificate), "client-key-data": STANDARD.encode(key)});
        codes(&judged(&file(json!({"server": "https://a.example"}), user), Private).contexts()[0])
    };
    let other = KeyPair::generate().expect("a key").serialize_pem();
    for algorithm in [
        &rcgen::PKCS_ECDSA_P256_SHA256,
        &rcgen::PKCS_ECDSA_P384_SHA384,
        &rcgen::PKCS_ECDSA_P521_SHA512,
        &rcgen::PKCS_ED25519,
        &rcgen::PKCS_RSA_SHA256,
    ] {
        let key = KeyPair::generate_for(algorithm).expect("a key");
        let certificate = CertificateParams::default().self_signed(&key).expect("a certificate").pem();
        let pem = key.serialize_pem();
        assert_eq!(codes_of(&certificate, &pem), [""; 0], "{algorithm:?}");
        assert_eq!(codes_of(&certificate, &format!("{certificate}{pem}")), [""; 0], "a bundle of both");
        assert_eq!(codes_of(&certificate, &pem.replace('\n', "\r\n")), [""; 0], "line ends of Windows");
        assert_eq!(codes_of(&certificate, &other), ["key_mismatch"], "{algorithm:?}");
        assert_eq!(codes_of(&certificate, &key.public_key_pem()), ["bad_pem"], "a public key is none");
        assert_eq!(codes_of(&pem, &pem), ["bad_pem"], "a key is no certificate");
    }
}

fn tls_trusts(authority: &rcgen::Certificate, served: &[&rcgen::Certificate]) -> bool {
    use rustls::client::danger::ServerCertVerifier as _;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.der().clone()).expect("rustls reads it");
    let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(roots.into(), provider)
        .build()
        .expect("it has roots");
    let name = "api.example.com".try_into().expect("a name");
    let rest: Vec<_> = served[1..].iter().map(|certificate| certificate.der().clone()).collect();
    let at = rustls_pki_types::UnixTime::since_unix_epoch(std::time::Duration::from_secs(
        now().as_second().try_into().expect("after 1970"),
    ));
    verifier.verify_server_cert(served[0].der(), &rest, &name, &[], at).is_ok()
}

proptest::proptest! {
    #[test]
    fn a_cut_says_to_kube_what_the_file_said(
        name in "\\PC{1,30}|[a-z0-9:.+-]{1,12}|\\PC{0,8}[\u{0}-\u{1f}\u{7f}\u{85}\u{2028}]\\PC{0,8}",
        token in "[!-~]{1,60}",
    ) {
        let document = json!({
            "clusters": [{"name": "c", "cluster": {"server": "https://a.example"}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}}],
        });
        let Ok(inspection) = inspect(document.to_string().as_bytes(), Private, now()) else { return Ok(()) };
        let context = &inspection.contexts()[0];
        let Ok(cut) = inspection.cut(&context.key, now()) else { return Ok(()) };
        let read = kube::config::Kubeconfig::from_yaml(cut.text()).expect("kube reads the cut");
        proptest::prop_assert_eq!(read.current_context.as_deref(), Some(read.contexts[0].name.as_str()));
        if !context.key.is_empty() {
            proptest::prop_assert_eq!(&read.contexts[0].name, &context.key);
        }
        use secrecy::ExposeSecret as _;
        let user = read.auth_infos[0].auth_info.as_ref().expect("a user");
        proptest::prop_assert_eq!(user.token.as_ref().map(|t| t.expose_secret()), Some(token.as_str()));
        let again = SafeKubeconfig::admit(cut.text().as_bytes(), Private, now()).expect("its own cut passes");
        proptest::prop_assert_eq!(again.text(), cut.text(), "cutting twice changes nothing");
    }
}

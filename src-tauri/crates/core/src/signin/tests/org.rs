//! Orgs out of claims, by what providers really send.

use jiff::Timestamp;
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use super::signed::Signer;
use crate::deployment::{Deployment, OrgClaim, OrgShape};
use crate::signin::SignInError;
use crate::signin::id_token::{Expected, Nonce, VerifiedIdToken, verify};
use crate::signin::org::{orgs, tenant};

fn verified(claims: &Value) -> VerifiedIdToken {
    let signer = Signer::new(Algorithm::ES256, "k1");
    let mut all = json!({"iss": "https://id.example", "sub": "ada", "aud": "muster", "iat": 0, "exp": 9_999_999_999_i64});
    for (name, value) in claims.as_object().expect("an object") {
        all[name] = value.clone();
    }
    let expected = Expected {
        issuer: "https://id.example",
        client_id: "muster",
        nonce: Nonce::Unknown,
        algorithms: &[],
        access_token: None,
        now: Timestamp::UNIX_EPOCH,
        skew_seconds: 0,
    };
    verify(&signer.sign(&all), &signer.jwk, &expected).expect("it is sound")
}

fn names(claims: &Value, rule: &OrgClaim) -> Result<Vec<String>, SignInError> {
    Ok(orgs(&verified(claims), rule)?.iter().map(|org| org.as_str().to_owned()).collect())
}

fn preset(name: &str) -> OrgClaim {
    let text = format!(
        "preset = \"{name}\"\ntitle = \"x\"\nissuer = \"https://id.example\"\nclient_id = \"muster\"\n\
         [kms]\nkind = \"vault\"\nurl = \"https://kms.example\"\n"
    );
    Deployment::parse("x", &text).expect("it is good").effective_org_claim()
}

fn at(pointers: &[&str], shape: OrgShape, item_key: Option<&str>) -> OrgClaim {
    OrgClaim {
        pointers: pointers.iter().map(|p| (*p).to_owned()).collect(),
        shape,
        item_key: item_key.map(str::to_owned),
    }
}

#[test]
fn each_presets_own_token_names_its_orgs() {
    for (name, claims, wanted) in [
        ("hanzo", json!({"owner": "acme"}), &["acme"][..]),
        (
            "hanzo",
            json!({"owner": "acme", "orgs": [{"org": "acme", "role": "admin"}, {"org": "zoo"}]}),
            &["acme", "zoo"],
        ),
        ("keycloak", json!({"organization": ["acme", "zoo"]}), &["acme", "zoo"]),
        ("keycloak", json!({"organization": {"acme": {"id": "1"}}}), &["acme"]),
        (
            "entra",
            json!({"tid": "72f988bf-86f1-41af-91ab-2d7cd011db47"}),
            &["72f988bf-86f1-41af-91ab-2d7cd011db47"],
        ),
        ("okta", json!({"org": "acme"}), &["acme"]),
        ("auth0", json!({"org_id": "org_9ybsU1dN2dKfDkBi"}), &["org_9ybsU1dN2dKfDkBi"]),
        (
            "zitadel",
            json!({"urn:zitadel:iam:user:resourceowner:id": "69629023906488334"}),
            &["69629023906488334"],
        ),
        ("google", json!({"hd": "acme"}), &["acme"]),
        ("dex", json!({"groups": ["acme", "zoo"]}), &["acme", "zoo"]),
    ] {
        assert_eq!(names(&claims, &preset(name)).expect("it names an org"), wanted, "{name} {claims}");
    }
}

#[test]
fn pointers_reach_names_with_slashes_and_deeper_places() {
    for (pointer, claims) in [
        ("/https:~1~1acme.example~1org", json!({"https://acme.example/org": "acme"})),
        ("/a~0b", json!({"a~b": "acme"})),
        ("/resource/orgs/0", json!({"resource": {"orgs": ["acme", "zoo"]}})),
        ("/org.name", json!({"org.name": "acme"})),
    ] {
        assert_eq!(names(&claims, &at(&[pointer], OrgShape::Names, None)).expect("it is there"), ["acme"]);
    }
}

#[test]
fn only_the_shape_that_the_deployment_names_counts() {
    use OrgShape::{List, MapKeys, Names, NamesOrMapKeys, String as One};
    let (one, list, map) = (json!("acme"), json!(["acme"]), json!({"acme": {}}));
    for (shape, counts) in [
        (Names, [true, true, false]),
        (One, [true, false, false]),
        (List, [false, true, false]),
        (MapKeys, [false, false, true]),
        (NamesOrMapKeys, [true, true, true]),
    ] {
        for (value, counts) in [&one, &list, &map].into_iter().zip(counts) {
            let found = names(&json!({"org": value}), &at(&["/org"], shape, None));
            assert_eq!(found.is_ok(), counts, "{shape:?} {value}");
        }
    }
    let objects = json!({"orgs": [{"org": "acme", "role": "zoo"}, {"name": "zoo"}, {"org": 5}, 7, null]});
    assert_eq!(names(&objects, &at(&["/orgs"], Names, Some("org"))).expect("one counts"), ["acme"]);
    assert_eq!(names(&objects, &at(&["/orgs"], Names, None)), Err(SignInError::NoOrg));
}

#[test]
fn a_token_without_an_org_has_no_fallback() {
    for claims in [
        json!({}),
        json!({"org": ""}),
        json!({"org": []}),
        json!({"org": null}),
        json!({"org": 5}),
        json!({"org": true}),
        json!({"org": {"id": "acme"}}),
        json!({"org": [["acme"]]}),
        json!({"organisation": "acme", "iss_org": "acme"}),
    ] {
        assert_eq!(names(&claims, &OrgClaim::default()), Err(SignInError::NoOrg), "{claims}");
    }
}

#[test]
fn a_name_that_a_kms_path_or_policy_gives_a_meaning_to_is_no_org() {
    for name in [
        "*",
        "+",
        "../x",
        "..",
        ".",
        "a/b",
        "acme/../zoo",
        "%2e%2e",
        "acme ",
        " acme",
        "acme\n",
        "ａcme",
        "аcme",
        "{{org}}",
    ] {
        let found = names(&json!({"org": name}), &OrgClaim::default());
        assert_eq!(found.map_err(|error| error.code()), Err("org_name"), "{name:?}");
        let beside = names(&json!({"orgs": [name, "acme"]}), &OrgClaim::default());
        assert_eq!(beside.expect("the other one is good"), ["acme"], "{name:?}");
    }
}

#[test]
fn names_are_verbatim_each_once_in_the_tokens_order() {
    let claims = json!({"org": "zoo", "orgs": ["acme", "ACME", "zoo", "acme"]});
    assert_eq!(names(&claims, &OrgClaim::default()).expect("they are good"), ["zoo", "acme", "ACME"]);
}

#[test]
fn a_tenant_is_of_an_org_that_the_token_carries_letter_for_letter() {
    let token = verified(&json!({"orgs": ["acme", "zoo"]}));
    for foreign in ["ACME", "acme ", "", "*", "other", "acme/../zoo"] {
        assert_eq!(
            tenant(&token, &OrgClaim::default(), foreign),
            Err(SignInError::ForeignOrg),
            "{foreign:?}"
        );
    }
    let tenant = tenant(&token, &OrgClaim::default(), "zoo").expect("it is carried");
    assert_eq!(
        (tenant.org().as_str(), tenant.subject(), tenant.issuer()),
        ("zoo", "ada", "https://id.example")
    );
}

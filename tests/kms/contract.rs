//! What the registry relies on, held against any server.

use std::sync::Arc;

use muster_core::kms::vault::{MAX_VALUE, Vault, VaultConfig};
use muster_core::kms::{Cas, Expect, Kms, KmsError, Purged, SecretRef, Version};
use muster_core::registry::ClusterName;

use crate::under_test::{KmsUnderTest, org};

fn credential(org_name: &str, cluster: &str) -> SecretRef {
    SecretRef::credential(&org(org_name), &ClusterName::parse(cluster).unwrap())
}

async fn read(kms: &Vault, at: &SecretRef) -> Option<(String, Version)> {
    let found = kms.get(at).await.unwrap()?;
    Some((String::from_utf8(found.bytes.to_vec()).unwrap(), found.version))
}

pub async fn what_was_never_written_is_absent(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    for at in [SecretRef::purge_list(&org("acme")), credential("acme", "never")] {
        assert_eq!(read(&kms, &at).await, None, "{at}");
    }
}

pub async fn what_is_written_is_read(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "odd-text");
    let text = "apiVersion: v1\r\n# \"quotes\" \\ back\u{7f}\u{0}\u{1f600} ünï\n\tend";
    let version = kms.put(&at, text.as_bytes(), Expect::Absent).await.unwrap();
    assert_eq!(read(&kms, &at).await, Some((text.to_owned(), version)));
}

pub async fn a_write_that_expects_another_state_is_a_conflict(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "contested");
    let first = kms.put(&at, b"one", Expect::Absent).await.unwrap();
    assert!(
        matches!(kms.put(&at, b"x", Expect::Absent).await, Err(KmsError::Conflict { .. })),
        "it is there"
    );
    let second = kms.put(&at, b"two", Expect::Version(first)).await.unwrap();
    assert_ne!(first, second);
    let stale = kms.put(&at, b"x", Expect::Version(first)).await;
    assert!(matches!(stale, Err(KmsError::Conflict { .. })), "somebody was faster");
    let third = kms.put(&at, b"three", Expect::Any).await.unwrap();
    assert_eq!(read(&kms, &at).await, Some(("three".into(), third)));
}

pub async fn of_twenty_that_create_at_once_one_wins(server: &impl KmsUnderTest) {
    let at = credential("acme", "race");
    let desks: Vec<_> = (0..20).map(|_| Arc::new(server.client("acme"))).collect();
    let tasks: Vec<_> = desks
        .into_iter()
        .map(|kms| {
            let at = at.clone();
            tokio::spawn(async move { kms.put(&at, b"mine", Expect::Absent).await })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert!(matches!(error, KmsError::Conflict { .. }), "{error}"),
        }
    }
    assert_eq!(won, 1);
}

pub async fn a_purge_destroys_every_version(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "rotated");
    for text in ["one", "two", "three"] {
        kms.put(&at, text.as_bytes(), Expect::Any).await.unwrap();
    }
    assert!(server.readable_versions(&at).await >= 1);
    assert_eq!(kms.purge(&at).await, Ok(Purged::Gone));
    assert_eq!(server.readable_versions(&at).await, 0, "the operator reads none of them either");
    assert_eq!(read(&kms, &at).await, None);
    assert_eq!(kms.purge(&at).await, Ok(Purged::WasAbsent), "twice is once");
    kms.put(&at, b"anew", Expect::Absent).await.unwrap();
}

pub async fn two_orgs_see_nothing_of_each_other(server: &impl KmsUnderTest) {
    let (acme, zoo) = (server.client("acme"), server.client("zoo"));
    acme.put(&credential("acme", "prod"), b"of acme", Expect::Any).await.unwrap();
    zoo.put(&credential("zoo", "prod"), b"of zoo", Expect::Any).await.unwrap();
    assert_eq!(read(&acme, &credential("acme", "prod")).await.unwrap().0, "of acme");
    assert_eq!(read(&zoo, &credential("zoo", "prod")).await.unwrap().0, "of zoo");
    let foreign = credential("acme", "prod");
    let refused = KmsError::WrongOrg { named: "acme".into(), expected: org("zoo") };
    assert_eq!(zoo.get(&foreign).await.err(), Some(refused.clone()));
    assert_eq!(zoo.put(&foreign, b"x", Expect::Any).await, Err(refused.clone()));
    assert_eq!(zoo.purge(&foreign).await, Err(refused));
    assert_eq!(read(&acme, &foreign).await.unwrap().0, "of acme");
}

/// The settings name acme's role for everybody: the login works, and the KMS says `acme` to a session of zoo.
pub async fn a_login_that_names_another_org_is_refused(server: &impl KmsUnderTest) {
    let config = VaultConfig { role: "muster-acme".into(), ..server.config() };
    let kms = Vault::new(&config, org("zoo"), server.identity("acme"), server.clock()).unwrap();
    let refused = KmsError::WrongOrg { named: "acme".into(), expected: org("zoo") };
    assert_eq!(kms.get(&SecretRef::index(&org("zoo"))).await.err(), Some(refused.clone()));
    assert_eq!(kms.whoami().await, Err(refused));
}

pub async fn a_member_of_another_org_is_not_signed_in(server: &impl KmsUnderTest) {
    let kms = Vault::new(&server.config(), org("acme"), server.identity("zoo"), server.clock()).unwrap();
    let refused = kms.get(&SecretRef::index(&org("acme"))).await.err().unwrap();
    assert!(matches!(refused, KmsError::Unauthenticated { .. }), "{refused}");
}

pub async fn a_dead_token_is_replaced_by_one_new_login(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "dead-token");
    kms.put(&at, b"before", Expect::Any).await.unwrap();
    server.kill_tokens().await;
    assert_eq!(read(&kms, &at).await.unwrap().0, "before", "a read");
    server.kill_tokens().await;
    kms.put(&at, b"after", Expect::Any).await.unwrap();
    assert_eq!(read(&kms, &at).await.unwrap().0, "after", "and a write");
}

pub async fn the_kms_says_who_the_session_is(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let identity = kms.whoami().await.unwrap();
    assert_eq!(identity.org, org("acme"));
    assert!(!identity.subject.is_empty());
    assert_ne!(identity.can_write, Some(false));
    assert_eq!(kms.caps().await.unwrap().cas, Cas::Native);
}

pub async fn a_value_too_large_is_refused_with_both_sizes(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "large");
    let fits = "\n".repeat(MAX_VALUE);
    kms.put(&at, fits.as_bytes(), Expect::Any).await.unwrap();
    assert_eq!(read(&kms, &at).await.unwrap().0.len(), MAX_VALUE);
    let size = MAX_VALUE + 1;
    let refused = kms.put(&at, "\n".repeat(size).as_bytes(), Expect::Any).await;
    assert_eq!(refused, Err(KmsError::TooLarge { size, max: MAX_VALUE }));
}

pub async fn a_wrong_mount_is_misconfigured_and_never_empty(server: &impl KmsUnderTest) {
    for mount in ["nothing-mounted", "nobody-may"] {
        let config = VaultConfig { mount: mount.into(), ..server.config() };
        let kms = Vault::new(&config, org("acme"), server.identity("acme"), server.clock()).unwrap();
        let at = SecretRef::index(&org("acme"));
        let answers = [
            kms.get(&at).await.err().unwrap(),
            kms.put(&at, b"x", Expect::Any).await.unwrap_err(),
            kms.purge(&at).await.unwrap_err(),
        ];
        for answer in answers {
            assert!(matches!(answer, KmsError::Misconfigured { .. }), "{mount}: {answer}");
        }
    }
}

pub async fn a_wrong_role_is_misconfigured(server: &impl KmsUnderTest) {
    let config = VaultConfig { role: "nobody-has-it".into(), ..server.config() };
    let kms = Vault::new(&config, org("acme"), server.identity("acme"), server.clock()).unwrap();
    let answer = kms.get(&SecretRef::index(&org("acme"))).await.err().unwrap();
    assert!(matches!(answer, KmsError::Misconfigured { .. }), "{answer}");
}

pub async fn after_closing_the_session_is_over(server: &impl KmsUnderTest) {
    let kms = server.client("acme");
    let at = credential("acme", "closed");
    kms.put(&at, b"x", Expect::Any).await.unwrap();
    kms.close().await;
    assert_eq!(kms.get(&at).await.err(), Some(KmsError::Closed));
    assert_eq!(kms.whoami().await, Err(KmsError::Closed));
    kms.close().await;
}

/// The last: the server stays sealed.
pub async fn a_sealed_server_says_so(server: &impl KmsUnderTest) {
    let (known, fresh) = (server.client("acme"), server.client("acme"));
    let at = SecretRef::index(&org("acme"));
    known.put(&at, b"[]", Expect::Any).await.unwrap();
    server.seal().await;
    for kms in [known, fresh] {
        assert_eq!(kms.get(&at).await.err(), Some(KmsError::Sealed), "reading");
        assert_eq!(kms.put(&at, b"[]", Expect::Any).await, Err(KmsError::Sealed), "writing");
        assert_eq!(kms.purge(&at).await, Err(KmsError::Sealed), "purging");
    }
}

/// Makes one test of each clause, for a server that `$start` starts.
macro_rules! hold_contract {
    ($start:expr) => {
        $crate::contract::hold_contract! { $start;
            what_was_never_written_is_absent, what_is_written_is_read,
            a_write_that_expects_another_state_is_a_conflict, of_twenty_that_create_at_once_one_wins,
            a_purge_destroys_every_version, two_orgs_see_nothing_of_each_other,
            a_login_that_names_another_org_is_refused, a_member_of_another_org_is_not_signed_in,
            a_dead_token_is_replaced_by_one_new_login, the_kms_says_who_the_session_is,
            a_value_too_large_is_refused_with_both_sizes, a_wrong_mount_is_misconfigured_and_never_empty,
            a_wrong_role_is_misconfigured, after_closing_the_session_is_over, a_sealed_server_says_so,
        }
    };
    ($start:expr; $($clause:ident),* $(,)?) => {
        mod contract {
            $(
                #[tokio::test]
                async fn $clause() {
                    if let Some(server) = $start.await {
                        $crate::contract::$clause(&server).await;
                    }
                }
            )*
        }
    };
}
pub(crate) use hold_contract;

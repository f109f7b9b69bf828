//! The tables of Vault's answers, row by row. The bodies are those of a real OpenBao 2.7.2.

use super::*;

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, body: Zeroizing::new(body.as_bytes().to_vec()), retry_after: None }
}

fn error_of(status: u16, body: &str) -> KmsError {
    fault(&answer(status, body), "read it", 10)
}

#[test]
fn only_a_document_that_was_never_written_or_is_deleted_is_absent() {
    assert_eq!(absence(&answer(404, r#"{"errors":[]}"#)), Ok(Absence::NeverWritten));
    let deleted = r#"{"data":{"data":null,"metadata":{"version":3,"deletion_time":"2026-01-01T00:00:00Z","destroyed":false}},"warnings":null}"#;
    assert_eq!(absence(&answer(404, deleted)), Ok(Absence::Deleted(Version(3))));
}

#[test]
fn a_404_of_the_settings_is_misconfigured_and_never_absent() {
    for body in [
        r#"{"errors":["no handler for route \"x/data/a\". route entry not found."]}"#,
        r#"{"errors":["namespace not found"]}"#,
        r#"{"warnings":["Invalid path for a versioned K/V secrets engine. See the API docs"],"data":null}"#,
    ] {
        assert!(matches!(absence(&answer(404, body)), Err(KmsError::Misconfigured { .. })), "{body}");
    }
}

#[test]
fn a_404_that_is_not_vaults_is_a_protocol_fault_and_never_absent() {
    for body in
        ["<html>404</html>", "", "{}", "[]", "null", r#"{"errors":["something new"]}"#, r#"{"error":"x"}"#]
    {
        assert!(matches!(absence(&answer(404, body)), Err(KmsError::Protocol { .. })), "{body:?}");
    }
}

#[test]
fn each_status_is_its_own_answer() {
    let errors = r#"{"errors":["x"]}"#;
    let table: &[(u16, &str, &str)] = &[
        (307, "", "kms_protocol"),
        (400, r#"{"errors":["Forbidden"]}"#, "kms_forbidden"),
        (400, r#"{"errors":["check-and-set parameter did not match the current version"]}"#, "kms_conflict"),
        (400, errors, "kms_protocol"),
        (401, errors, "kms_unauthenticated"),
        (403, r#"{"errors":["1 error occurred:\n\t* permission denied\n\n"]}"#, "kms_forbidden"),
        (403, "<html>blocked</html>", "kms_protocol"),
        (404, "<html></html>", "kms_protocol"),
        (405, errors, "kms_protocol"),
        (413, "", "kms_too_large"),
        (429, errors, "kms_rate_limited"),
        (472, "", "kms_unavailable"),
        (473, "", "kms_unavailable"),
        (500, errors, "kms_unavailable"),
        (502, "<html></html>", "kms_unavailable"),
        (503, r#"{"errors":["Vault is sealed"]}"#, "kms_sealed"),
        (503, "<html></html>", "kms_unavailable"),
        (200, "<html></html>", "kms_protocol"),
    ];
    for (status, body, code) in table {
        assert_eq!(error_of(*status, body).code(), *code, "{status} {body}");
    }
}

#[test]
fn the_size_limit_of_the_storage_is_told_with_both_numbers() {
    let body = r#"{"errors":["1 error occurred:\n\t* put failed due to value being too large; got 1065156 bytes, max 1048576 bytes\n\n"]}"#;
    assert_eq!(error_of(500, body), KmsError::TooLarge { size: 1_065_156, max: 1_048_576 });
}

#[test]
fn a_refused_login_says_whether_the_person_the_clock_or_the_settings_are_wrong() {
    let table: &[(u16, &str, &str)] = &[
        (400, r#"role \"nope\" could not be found"#, "kms_misconfigured"),
        (
            400,
            "error validating token: invalid audience (aud) claim: audience claim does not match any expected audience",
            "kms_misconfigured",
        ),
        (400, "error validating token: invalid issuer (iss) claim", "kms_misconfigured"),
        (400, "error converting claim 'org' to string", "kms_misconfigured"),
        (
            400,
            r#"error validating claims: claim \"org\" does not match any associated bound claim values"#,
            "kms_unauthenticated",
        ),
        (
            400,
            "error validating token: invalid expiration time (exp) claim: token is expired",
            "kms_unauthenticated",
        ),
        (400, "invalid not before (nbf) claim: token not yet valid", "kms_unauthenticated"),
        (400, "error validating token: error verifying token signature: no known key", "kms_unauthenticated"),
        (400, "something new", "kms_unauthenticated"),
        (403, "permission denied", "kms_misconfigured"),
        (404, "namespace not found", "kms_misconfigured"),
        (503, "Vault is sealed", "kms_sealed"),
    ];
    for (status, text, code) in table {
        let body = format!(r#"{{"errors":["{text}"]}}"#);
        assert_eq!(login_fault(&answer(*status, &body), "muster", "jwt").code(), *code, "{text}");
    }
}

#[test]
fn no_text_of_the_server_reaches_an_error() {
    let canary = "canary-5f1d";
    let body = format!(r#"{{"errors":["{canary}"],"data":{{"data":{{"value":"{canary}"}}}}}}"#);
    for status in [300, 400, 401, 403, 404, 405, 413, 429, 472, 500, 503] {
        let answer = answer(status, &body);
        for error in [fault(&answer, "read it", 1), login_fault(&answer, "role", "jwt")] {
            let told = format!("{error} {error:?}");
            assert!(!told.contains(canary), "{status}: {told}");
        }
    }
    let told = format!("{:?}", decode::<WrittenBody>(&answer(200, &body)).err());
    assert!(!told.contains(canary), "{told}");
}

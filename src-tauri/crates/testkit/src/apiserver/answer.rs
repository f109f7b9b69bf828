//! Answers as an API server words them.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use http_body_util::Full;
use serde_json::{Value, json};

/// A whole answer.
pub type Answer = Response<Full<Bytes>>;

/// JSON with a status.
pub fn json(status: StatusCode, body: &Value) -> Answer {
    raw(status, "application/json", body.to_string().into())
}

/// Bytes with a status and content type.
pub fn raw(status: StatusCode, content_type: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    answer
}

/// A `Status` object (the form of every Kubernetes error).
pub fn status(code: StatusCode, reason: &str, message: &str) -> Answer {
    json(
        code,
        &json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code.as_u16(),
        }),
    )
}

/// 403 in the words of Kubernetes' RBAC.
pub fn forbidden(user: &str, verb: &str, plural: &str, group: &str, namespace: Option<&str>) -> Answer {
    let scope = namespace
        .map_or_else(|| "at the cluster scope".to_owned(), |ns| format!("in the namespace \"{ns}\""));
    let message = format!(
        "{plural} is forbidden: User \"{user}\" cannot {verb} resource \"{plural}\" in API group \"{group}\" {scope}"
    );
    status(StatusCode::FORBIDDEN, "Forbidden", &message)
}

/// 404 for a path that is no resource.
pub fn no_such_path() -> Answer {
    raw(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", Bytes::from_static(b"404 page not found\n"))
}

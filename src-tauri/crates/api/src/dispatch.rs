//! Commands by name, for the bridge: the same list, the same types, JSON in and out.

use serde_json::Value;

use crate::{App, AppError, ErrorKind};

/// Runs a command.
///
/// # Errors
/// The command's own, or that there is no such command or the request is not of its type.
pub async fn dispatch(app: &App, name: &str, request: Value) -> Result<Value, AppError> {
    macro_rules! route {
        ($($name:ident($request:ty) -> $response:ty;)*) => {
            match name {
                $(stringify!($name) => {
                    let request: $request = serde_json::from_value(request).map_err(|_| {
                        AppError::new("bad_request", ErrorKind::Refused, "The request is not of this command's type.", "")
                    })?;
                    let response: $response = app.$name(request).await?;
                    serde_json::to_value(response).map_err(|_| {
                        AppError::new("bad_response", ErrorKind::Failed, "The answer could not be written.", "")
                    })
                })*
                _ => Err(AppError::new("no_command", ErrorKind::Refused, "There is no such command.", "")),
            }
        };
    }
    crate::for_each_command!(route)
}

/// Compiles only while every command's future may move between threads, as the window's runtime needs.
#[cfg(test)]
#[expect(dead_code, reason = "it is compiled, not run")]
fn every_command_may_move_between_threads(app: &'static App) {
    fn may_move<F: Future + Send + 'static>(_: impl FnOnce() -> F) {}
    macro_rules! check {
        ($($name:ident($request:ty) -> $response:ty;)*) => {
            $(may_move(|| app.$name(serde_json::from_value::<$request>(Value::Null).unwrap_or_else(|_| unreachable!())));)*
        };
    }
    crate::for_each_command!(check);
}

//! Being logged in to Vault: the KMS token, from the first need to its revocation.
//!
//! Invariants: one login at a time, however many calls wait for it; the token lives in wiped memory only; the org that
//! the KMS names at login (`auth.metadata.org`) equals the session's, or the token is revoked and refused; after
//! [`Session::close`] no token is handed out any more.
//!
//! Deliberately absent: a background task. A token is renewed by the first call after two thirds of its life, and
//! replaced by a new login where that fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde::Serialize;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::VaultConfig;
use super::answers::{Auth, LoginBody, LookupBody, decode, fault, login_fault};
use super::transport::{Answer, Body, Transport};
use crate::clock::Clock;
use crate::kms::{IdentityTokens, KmsError};
use crate::kubeconfig::printable;
use crate::tenant::Org;

pub(super) struct Session {
    transport: Transport,
    org: Org,
    role: String,
    auth_mount: String,
    identity: Arc<dyn IdentityTokens>,
    clock: Arc<dyn Clock>,
    current: Mutex<Option<Arc<Token>>>,
    closed: AtomicBool,
}

pub(super) struct Token {
    text: Zeroizing<String>,
    renewable: bool,
    issued: Timestamp,
    /// `None` where the token has no end.
    life: Option<SignedDuration>,
}

impl Token {
    fn has_lived(&self, thirds: i32, now: Timestamp) -> bool {
        self.life.is_some_and(|life| now.duration_since(self.issued) >= life * thirds / 3)
    }
}

#[derive(Serialize)]
struct LoginRequest<'a> {
    role: &'a str,
    jwt: &'a str,
}

impl Session {
    pub fn new(
        config: &VaultConfig,
        transport: Transport,
        org: Org,
        identity: Arc<dyn IdentityTokens>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            transport,
            role: config.role_for(&org),
            auth_mount: config.auth_mount.clone(),
            org,
            identity,
            clock,
            current: Mutex::new(None),
            closed: AtomicBool::new(false),
        }
    }

    pub fn org(&self) -> &Org {
        &self.org
    }

    /// Sends a request with the KMS token. A 403 of a token that died is answered by one new login; a 403 of a living
    /// token is a denial and is handed back.
    pub async fn send(&self, method: Method, path: &str, body: Option<Body>) -> Result<Answer, KmsError> {
        let token = self.token().await?;
        let mut answer =
            self.transport.send(method.clone(), path, Some(token.text.as_str()), body.clone()).await?;
        if answer.status == 403 && !self.is_alive(&token).await? {
            let token = self.replace(&token).await?;
            answer = self.transport.send(method, path, Some(token.text.as_str()), body).await?;
        }
        // An answer that arrives after sign-out belongs to a session that is over.
        self.ensure_open()?;
        Ok(answer)
    }

    /// Ends the session: the token is revoked, as well as that goes, and wiped.
    pub async fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let token = self.current.lock().await.take();
        if let Some(token) = token {
            self.revoke(&token.text).await;
        }
    }

    fn ensure_open(&self) -> Result<(), KmsError> {
        if self.closed.load(Ordering::SeqCst) { Err(KmsError::Closed) } else { Ok(()) }
    }

    /// A token with life in it: the present one, renewed where due, or that of a new login.
    async fn token(&self) -> Result<Arc<Token>, KmsError> {
        self.ensure_open()?;
        // The lock is held while logging in: whoever comes meanwhile waits here and takes the same token.
        let mut current = self.current.lock().await;
        let now = self.clock.now();
        let present = current.as_ref().filter(|token| !token.has_lived(3, now)).cloned();
        let token = match present {
            Some(token) if !token.has_lived(2, now) => return Ok(token),
            Some(token) if token.renewable => match self.renew(&token).await {
                Ok(renewed) => renewed,
                Err(_) => self.log_in().await?,
            },
            _ => self.log_in().await?,
        };
        self.keep(&mut current, token).await
    }

    /// A token other than this dead one.
    async fn replace(&self, dead: &Arc<Token>) -> Result<Arc<Token>, KmsError> {
        let mut current = self.current.lock().await;
        match current.as_ref() {
            Some(token) if !Arc::ptr_eq(token, dead) => Ok(Arc::clone(token)),
            _ => {
                *current = None;
                let token = self.log_in().await?;
                self.keep(&mut current, token).await
            }
        }
    }

    async fn keep(&self, current: &mut Option<Arc<Token>>, token: Token) -> Result<Arc<Token>, KmsError> {
        if let Err(closed) = self.ensure_open() {
            self.revoke(&token.text).await;
            return Err(closed);
        }
        let token = Arc::new(token);
        *current = Some(Arc::clone(&token));
        Ok(token)
    }

    async fn log_in(&self) -> Result<Token, KmsError> {
        let jwt = self.identity.current().await?;
        let body = Body::json(&LoginRequest { role: &self.role, jwt: &jwt }, jwt.len() + 128)?;
        let path = format!("auth/{}/login", self.auth_mount);
        let issued = self.clock.now();
        let answer = self.transport.send(Method::POST, &path, None, Some(body)).await?;
        if answer.status != 200 {
            return Err(login_fault(&answer, &self.role, &self.auth_mount));
        }
        let auth = decode::<LoginBody>(&answer)?.auth;
        if let Err(refused) =
            self.check_org(auth.metadata.as_ref().and_then(|metadata| metadata.org.as_deref()))
        {
            self.revoke(&auth.client_token).await;
            return Err(refused);
        }
        Ok(token_of(auth, issued))
    }

    async fn renew(&self, token: &Token) -> Result<Token, KmsError> {
        let issued = self.clock.now();
        let answer = self
            .transport
            .send(Method::POST, "auth/token/renew-self", Some(token.text.as_str()), None)
            .await?;
        if answer.status != 200 {
            return Err(fault(&answer, "renew the session", 0));
        }
        let auth = decode::<LoginBody>(&answer)?.auth;
        self.check_org(auth.metadata.as_ref().and_then(|metadata| metadata.org.as_deref()))?;
        Ok(token_of(auth, issued))
    }

    /// The KMS's word on who the person is, against the session's.
    pub fn check_org(&self, named: Option<&str>) -> Result<(), KmsError> {
        match named {
            Some(named) if named == self.org.as_str() => Ok(()),
            Some(named) => Err(KmsError::WrongOrg { named: printable(named), expected: self.org.clone() }),
            None => Err(KmsError::Misconfigured {
                what: format!(
                    "role “{}” does not tell the organisation (claim_mappings must map a claim to “org”)",
                    self.role
                ),
            }),
        }
    }

    /// Whether the KMS still knows the token. Only this tells a dead token from a denial: both are 403.
    async fn is_alive(&self, token: &Token) -> Result<bool, KmsError> {
        let answer = self
            .transport
            .send(Method::GET, "auth/token/lookup-self", Some(token.text.as_str()), None)
            .await?;
        match answer.status {
            200 => decode::<LookupBody>(&answer).map(|_| true),
            403 => Ok(false),
            _ => Err(fault(&answer, "look at your own session", 0)),
        }
    }

    async fn revoke(&self, token: &str) {
        // Best effort: a token that could not be revoked ends by itself at the end of its lease.
        let _ = self.transport.send(Method::POST, "auth/token/revoke-self", Some(token), None).await;
    }
}

fn token_of(auth: Auth, issued: Timestamp) -> Token {
    let seconds = i64::try_from(auth.lease_duration).unwrap_or(i64::MAX);
    Token {
        text: auth.client_token,
        renewable: auth.renewable,
        issued,
        life: (seconds > 0).then(|| SignedDuration::from_secs(seconds)),
    }
}

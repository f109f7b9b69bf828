//! A scripted person: does in a provider's pages what somebody with a browser would, and keeps its cookies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use muster_core::signin::Browser;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use url::Url;

/// What a form sends: names and values.
type Fields = Vec<(String, String)>;

/// Somebody in front of a browser. An empty name is somebody who cancels.
#[derive(Clone)]
pub struct Person {
    name: String,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
    client: reqwest::Client,
    /// Comes before the true callback, as a forged request would.
    forged_first: bool,
}

impl Person {
    pub fn new(name: &str) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client");
        Self { name: name.to_owned(), cookies: Arc::default(), client, forged_first: false }
    }

    /// Whose browser first brings a callback that somebody else made up.
    pub fn with_a_forged_callback(self) -> Self {
        Self { forged_first: true, ..self }
    }

    /// Walks from a provider's page to the callback, which it does not visit.
    ///
    /// # Errors
    /// The last page's status, where the provider never sends the browser back.
    pub async fn walk(&self, page: &Url) -> Result<Url, String> {
        let mut answer = self.send(self.client.get(page.clone()), page).await?;
        let mut at = page.clone();
        for _ in 0..20 {
            if let Some(next) = location(&answer, &at) {
                if next.path() == "/callback" {
                    return Ok(next);
                }
                answer = self.send(self.client.get(next.clone()), &next).await?;
                at = next;
                continue;
            }
            let status = answer.status();
            let html = answer.text().await.map_err(words)?;
            let Some((action, fields)) = self.fill(&html) else {
                return Err(format!("a page without a form ({status})"));
            };
            let action = at.join(&action).map_err(|error| error.to_string())?;
            let request = match fields {
                Some(fields) => self.client.post(action.clone()).form(&fields),
                None => self.client.get(action.clone()),
            };
            answer = self.send(request, &action).await?;
            at = action;
        }
        Err("the pages go round in circles".into())
    }

    /// What the person does on a page: where to, with which fields; a link has none.
    fn fill(&self, html: &str) -> Option<(String, Option<Fields>)> {
        let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        if let (true, Some(abort)) =
            (self.name.is_empty(), links.into_iter().find(|link| link.ends_with("/abort")))
        {
            return Some((abort.to_owned(), None));
        }
        let form = html.split("<form").nth(1)?;
        let action = attribute(form, "action")?;
        let mut fields = Vec::new();
        for input in form.split("<input").skip(1) {
            let name = attribute(input, "name")?;
            let value = match name.as_str() {
                "login" => self.name.clone(),
                "password" => "any".to_owned(),
                _ => attribute(input, "value").unwrap_or_default(),
            };
            fields.push((name, value));
        }
        if form.contains("<button name=\"person\"") {
            fields.push(("person".into(), self.name.clone()));
        }
        Some((action, Some(fields)))
    }

    async fn send(&self, request: reqwest::RequestBuilder, to: &Url) -> Result<reqwest::Response, String> {
        let jar =
            self.jar().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let answer = request.header(COOKIE, jar).send().await.map_err(words)?;
        for cookie in answer.headers().get_all(SET_COOKIE) {
            let pair = cookie.to_str().map_err(|error| error.to_string())?;
            let (name, value) =
                pair.split(';').next().and_then(|pair| pair.split_once('=')).ok_or("an odd cookie")?;
            match value {
                "" => drop(self.jar().remove(name)),
                value => drop(self.jar().insert(name.to_owned(), value.to_owned())),
            }
        }
        assert!(to.host_str() == Some("127.0.0.1"), "the person left this computer for {to}");
        Ok(answer)
    }

    fn jar(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn sign_in(&self, page: &Url) -> Result<(), String> {
        let callback = self.walk(page).await?;
        if self.forged_first {
            let mut forged = callback.clone();
            forged.query_pairs_mut().clear().extend_pairs([("code", "forged"), ("state", "guessed")]);
            let answer = self.client.get(forged).send().await.map_err(words)?;
            assert_eq!(answer.status(), 400, "a forged callback was taken");
        }
        self.client.get(callback).send().await.map_err(words).map(|_| ())
    }
}

#[async_trait]
impl Browser for Person {
    async fn open(&self, url: &Url) -> Result<(), String> {
        // A browser opens and returns; what the person does there takes its own time.
        let (person, url) = (self.clone(), url.clone());
        tokio::spawn(async move { person.sign_in(&url).await });
        Ok(())
    }
}

fn words(error: reqwest::Error) -> String {
    error.to_string()
}

fn location(answer: &reqwest::Response, at: &Url) -> Option<Url> {
    at.join(answer.headers().get(LOCATION)?.to_str().ok()?).ok()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = tag.split('>').next()?;
    let value = tag.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
    Some(value.replace("&amp;", "&"))
}

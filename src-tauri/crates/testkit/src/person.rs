//! A scripted person: does in the demo's sign-in page what somebody with a browser would.

use async_trait::async_trait;
use muster_core::signin::Browser;
use url::Url;

/// Somebody who signs in as soon as the page is opened.
#[derive(Debug, Clone)]
pub struct ScriptedPerson {
    id: String,
}

impl ScriptedPerson {
    /// One of [`crate::oidc::PEOPLE`]; an empty id is somebody who cancels.
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned() }
    }

    /// Opens the page, picks the person, follows the way back to the program that asked.
    ///
    /// # Errors
    /// In words, where a step failed.
    pub async fn sign_in(&self, page: &Url) -> Result<(), String> {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(|error| error.to_string())?;
        let fault = |error: reqwest::Error| error.without_url().to_string();
        let answer = client.get(page.clone()).send().await.map_err(fault)?;
        let back = match location(&answer) {
            Some(back) => back,
            None => {
                let html = answer.text().await.map_err(fault)?;
                let request = html
                    .split_once("name=\"request\" value=\"")
                    .and_then(|(_, rest)| rest.split_once('"'))
                    .map(|(value, _)| value.to_owned())
                    .ok_or("the page has no form")?;
                let login = page.join("/login").map_err(|error| error.to_string())?;
                let form = [("request", request.as_str()), ("person", self.id.as_str())];
                let answer = client.post(login).form(&form).send().await.map_err(fault)?;
                location(&answer).ok_or("the provider did not send the browser back")?
            }
        };
        client.get(back).send().await.map_err(fault).map(|_| ())
    }
}

fn location(answer: &reqwest::Response) -> Option<Url> {
    Url::parse(answer.headers().get(reqwest::header::LOCATION)?.to_str().ok()?).ok()
}

#[async_trait]
impl Browser for ScriptedPerson {
    async fn open(&self, url: &Url) -> Result<(), String> {
        // A browser opens and returns; what the person does there takes its own time.
        let (person, url) = (self.clone(), url.clone());
        tokio::spawn(async move {
            if let Err(why) = person.sign_in(&url).await {
                tracing::warn!(why, "the scripted person could not sign in");
            }
        });
        Ok(())
    }
}

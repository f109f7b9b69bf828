//! The staging commands: dropped, chosen and pasted kubeconfigs, judged; a look at the cluster; registering.
//!
//! Invariants: a file's contents stay in [`muster_core::kubeconfig::Inspection`], in memory, and are wiped when it is
//! discarded, registered or the session ends; the web view gets the verdicts; nothing is sealed before the person
//! says so. Deliberately absent: remembering paths.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use muster_core::connect::{AccessQuestion, DraVersion, Resource, Verb};
use muster_core::endpoint::EndpointPolicy;
use muster_core::fleet::observe;
use muster_core::kubeconfig::{self, Context, Inspection, MAX_FILE_BYTES, Refusal, Refusals};
use muster_core::registry::{ClusterName, Namespace, NamespaceBound, RegisterStep as Step, Registration};
use zeroize::Zeroizing;

use crate::app::App;
use crate::dto::AppEvent;
use crate::dto::fleet::{ClusterRow, Note, ScopeView};
use crate::dto::staging::{
    Permission, ProbePreview, ProbeRequest, RefusalView, RegisterProgress, RegisterRequest, RegisterStep,
    StagedContext, StagedFile, StagedRequest,
};
use crate::host::FilePurpose;
use crate::{AppError, ErrorKind};

/// Files that are staged at the same time.
const MAX_STAGED: usize = 200;
/// Folders below a dropped one that are looked into.
const MAX_DEPTH: usize = 4;

/// The staged files.
#[derive(Default)]
pub(crate) struct Staging {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    counter: u64,
    files: Vec<Arc<Staged>>,
}

struct Staged {
    id: String,
    file_name: String,
    size: u64,
    verdict: Result<Judged, Refusal>,
}

/// A file's verdicts, and its contents for as long as they are needed.
struct Judged {
    contexts: Vec<Context>,
    contents: Mutex<Option<Inspection>>,
}

impl Judged {
    fn contents(&self) -> std::sync::MutexGuard<'_, Option<Inspection>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Staging {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn clear(&self) {
        self.state().files.clear();
    }

    fn add(&self, file_name: String, size: u64, verdict: Result<Inspection, Refusal>) {
        let mut state = self.state();
        state.counter += 1;
        let id = format!("staged-{}", state.counter);
        // The same file dropped again takes the place of the older one.
        state.files.retain(|staged| staged.file_name != file_name);
        let verdict = verdict.map(|inspection| Judged {
            contexts: inspection.contexts().to_vec(),
            contents: Mutex::new(Some(inspection)),
        });
        state.files.push(Arc::new(Staged { id, file_name, size, verdict }));
        let over = state.files.len().saturating_sub(MAX_STAGED);
        state.files.drain(..over);
    }

    fn get(&self, id: &str) -> Result<Arc<Staged>, AppError> {
        self.state().files.iter().find(|staged| staged.id == id).map(Arc::clone).ok_or_else(|| {
            AppError::new(
                "not_staged",
                ErrorKind::Absent,
                "This file is not staged any more.",
                "Drop it again.",
            )
        })
    }

    fn discard(&self, id: &str) {
        self.state().files.retain(|staged| staged.id != id);
    }
}

impl App {
    /// Takes in what was dropped on the window: kubeconfigs, folders of them, deployment files.
    pub async fn files_dropped(&self, paths: Vec<PathBuf>) {
        let (deployments, kubeconfigs): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| path.extension().is_some_and(|e| e == "toml"));
        for path in deployments {
            if let Err(error) = self.import_deployment(&path) {
                self.notice("deployment", error.message);
            }
        }
        if kubeconfigs.is_empty() {
            return;
        }
        if self.signed_in().is_err() {
            self.notice("signed_out", "Sign in first, then drop the kubeconfig again.".into());
            return;
        }
        self.stage(kubeconfigs).await;
    }

    fn notice(&self, code: &str, text: String) {
        self.announce(AppEvent::Notice(Note {
            code: code.into(),
            severity: "warning".into(),
            subject: None,
            text,
        }));
    }

    async fn stage(&self, paths: Vec<PathBuf>) {
        let policy = self.policy();
        let now = self.environment.clock.now();
        let judged = tokio::task::spawn_blocking(move || {
            let mut files = Vec::new();
            for path in paths {
                collect(&path, MAX_DEPTH, &mut files);
            }
            files.truncate(MAX_STAGED);
            files.iter().map(|path| read_and_judge(path, policy, now)).collect::<Vec<_>>()
        });
        for (name, size, verdict) in judged.await.unwrap_or_default() {
            match verdict {
                Ok(verdict) => self.staging.add(name, size, verdict),
                Err(why) => self.notice("file_unreadable", format!("{name} could not be read: {why}")),
            }
        }
        self.announce(AppEvent::Staged(self.staged_files()));
    }

    /// The endpoint policy of the deployment in use.
    fn policy(&self) -> EndpointPolicy {
        self.active().map_or(EndpointPolicy::default(), |active| active.deployment().endpoint_policy)
    }

    fn staged_files(&self) -> Vec<StagedFile> {
        let registered: Vec<String> = self
            .signed_in()
            .map(|signed_in| {
                signed_in.fleet.snapshot().members.iter().map(|m| m.record.name.as_str().to_owned()).collect()
            })
            .unwrap_or_default();
        self.staging.state().files.iter().map(|staged| view(staged, &registered)).collect()
    }

    /// The staged files with the verdict on each context.
    pub async fn staged_list(&self, (): ()) -> Result<Vec<StagedFile>, AppError> {
        Ok(self.staged_files())
    }

    /// Lets the person pick kubeconfigs and stages them.
    pub async fn stage_choose_files(&self, (): ()) -> Result<Vec<StagedFile>, AppError> {
        self.signed_in()?;
        let paths = self.environment.host.choose_files(FilePurpose::Kubeconfigs).await?;
        if !paths.is_empty() {
            self.stage(paths).await;
        }
        Ok(self.staged_files())
    }

    /// Stages a kubeconfig from the clipboard; its text stays in this process.
    pub async fn stage_paste(&self, (): ()) -> Result<Vec<StagedFile>, AppError> {
        self.signed_in()?;
        let text: Zeroizing<String> = self.environment.host.clipboard_text().await?;
        let verdict = kubeconfig::inspect(text.as_bytes(), self.policy(), self.environment.clock.now());
        self.staging.add("clipboard".into(), text.len() as u64, verdict);
        let files = self.staged_files();
        self.announce(AppEvent::Staged(files.clone()));
        Ok(files)
    }

    /// Forgets a staged file.
    pub async fn staged_discard(&self, request: StagedRequest) -> Result<Vec<StagedFile>, AppError> {
        self.staging.discard(&request.id);
        let files = self.staged_files();
        self.announce(AppEvent::Staged(files.clone()));
        Ok(files)
    }

    /// Asks the cluster of a staged context, without sealing anything.
    pub async fn staged_probe(&self, request: ProbeRequest) -> Result<ProbePreview, AppError> {
        let signed_in = self.signed_in()?;
        let registration =
            self.registration(&request.id, &request.context, None, String::new(), &request.scope, false)?;
        let began = self.environment.clock.now();
        let bound = signed_in.registry.preview(signed_in.fleet.tenant(), &registration).await?;
        let reading = observe(&bound, &*self.environment.clock).await;
        if let Some(failure) = reading.failure() {
            return Err(failure.into());
        }
        let permissions = permissions(&bound).await;
        let took = self.environment.clock.now().duration_since(began);
        let nodes = reading.nodes.ok().and_then(|nodes| u32::try_from(nodes.len()).ok());
        Ok(ProbePreview {
            version: reading.version.clone().unwrap_or_default(),
            took_ms: u64::try_from(took.as_millis()).unwrap_or(0),
            nodes,
            units: crate::rows::units_of(&reading.inventory),
            models: crate::rows::models(reading.inventory.pools()),
            permissions,
            notes: crate::rows::notes(&reading.inventory),
        })
    }

    fn registration(
        &self,
        id: &str,
        context: &str,
        name: Option<&str>,
        provider: String,
        scope: &ScopeView,
        default: bool,
    ) -> Result<Registration, AppError> {
        let staged = self.staging.get(id)?;
        let judged = staged.verdict.as_ref().map_err(|refusal| {
            AppError::new(refusal.code(), ErrorKind::Refused, refusal.to_string(), refusal.way_out())
        })?;
        // What the window sends back is what it showed.
        let context = judged.contexts.iter().find(|shown| shown.name == context);
        let context = context.ok_or_else(|| Refusals(vec![Refusal::NoContext]))?;
        let name = name.unwrap_or(&context.suggested_name).to_owned();
        let bound = match scope {
            ScopeView::WholeCluster => NamespaceBound::WholeCluster,
            ScopeView::Namespaces { names } => NamespaceBound::only(names)?,
        };
        let contents = judged.contents();
        let inspection = contents.as_ref().ok_or_else(|| {
            let message = "This file has done its work, and its contents were wiped.";
            AppError::new("wiped", ErrorKind::Absent, message, "Drop it again to register it once more.")
        })?;
        let kubeconfig = inspection.cut(&context.key, self.environment.clock.now())?;
        Ok(Registration { name: ClusterName::parse(&name)?, kubeconfig, provider, bound, default })
    }

    /// Seals the credential and adds the cluster to the registry.
    pub async fn staged_register(&self, request: RegisterRequest) -> Result<ClusterRow, AppError> {
        let signed_in = self.signed_in()?;
        let registration = self.registration(
            &request.id,
            &request.context,
            Some(&request.name),
            request.provider.clone(),
            &request.scope,
            request.default,
        )?;
        let progress = |step: Step| {
            let step = match step {
                Step::Checking => RegisterStep::Checking,
                Step::Probing => RegisterStep::Probing,
                Step::Sealing => RegisterStep::Sealing,
                Step::Indexing => RegisterStep::Indexing,
                Step::Done => RegisterStep::Done,
            };
            let (id, context) = (request.id.clone(), request.context.clone());
            self.announce(AppEvent::Register(RegisterProgress { id, context, step }));
        };
        let record = signed_in.registry.register(signed_in.fleet.tenant(), &registration, &progress).await?;
        let _ = signed_in.fleet.reload().await;
        signed_in.fleet.refresh(Some(record.name.as_str()));
        // A file of one context has done its work; of several, the others may still be wanted.
        if let Ok(staged) = self.staging.get(&request.id)
            && let Ok(judged) = &staged.verdict
            && judged.contexts.len() == 1
        {
            judged.contents().take();
        }
        self.announce(AppEvent::Staged(self.staged_files()));
        match signed_in.fleet.member(record.name.as_str()) {
            Some(member) => Ok(crate::rows::cluster(&member)),
            None => Err(AppError::new(
                "registered_unseen",
                ErrorKind::Failed,
                format!("Cluster “{}” is registered, and the index does not show it yet.", record.name),
                "Refresh the fleet.",
            )),
        }
    }
}

/// Files below a path; hidden ones and anything too deep are passed over.
fn collect(path: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    let mut inside: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    inside.sort();
    for path in inside {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if depth > 0 && !hidden && files.len() < MAX_STAGED && !path.is_symlink() {
            collect(&path, depth - 1, files);
        }
    }
}

type ReadFile = (String, u64, Result<Result<Inspection, Refusal>, String>);

fn read_and_judge(path: &Path, policy: EndpointPolicy, now: jiff::Timestamp) -> ReadFile {
    let name =
        path.file_name().map(|name| kubeconfig::printable(&name.to_string_lossy())).unwrap_or_default();
    let mut bytes = Zeroizing::new(Vec::new());
    let mut size = 0;
    let outcome =
        read_file(path, &mut bytes).map(|of_file| size = of_file).map_err(|error| error.to_string());
    (name, size, outcome.map(|()| kubeconfig::inspect(&bytes, policy, now)))
}

/// Reads a file as far as it may matter, and returns its size in bytes.
fn read_file(path: &Path, into: &mut Zeroizing<Vec<u8>>) -> std::io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    // A pipe or a device would be read for ever.
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    // One byte over the limit is enough to know that it is too large, and is all that is read of it. Room for all of it
    // is made at once: a buffer that grows leaves copies behind that nobody wipes.
    let limit = MAX_FILE_BYTES as u64 + 1;
    into.reserve_exact(MAX_FILE_BYTES + 64);
    std::fs::File::open(path)?.take(limit).read_to_end(into)?;
    Ok(metadata.len())
}

fn view(staged: &Staged, registered: &[String]) -> StagedFile {
    let contexts = staged.verdict.as_ref().map(|judged| judged.contexts.as_slice()).unwrap_or_default();
    StagedFile {
        id: staged.id.clone(),
        file_name: staged.file_name.clone(),
        size: staged.size,
        refusal: staged.verdict.as_ref().err().map(|refusal| refusal_view(refusal, None)),
        contexts: contexts
            .iter()
            .map(|context| StagedContext {
                name: context.name.clone(),
                current: context.current,
                suggested_name: context.suggested_name.clone(),
                endpoint: context.endpoint.clone(),
                namespace: context.namespace.clone(),
                credential: context.credential.map(|kind| kind.label().to_owned()),
                expires_at: context.expires.map(|at| at.to_string()),
                provider: context.provider.map(str::to_owned),
                registered_as: registered.iter().find(|name| **name == context.suggested_name).cloned(),
                refusals: context.refusals.iter().map(|r| refusal_view(r, Some(&context.key))).collect(),
                warnings: context
                    .warnings
                    .iter()
                    .map(|warning| Note {
                        code: warning.code().into(),
                        severity: "warning".into(),
                        subject: None,
                        text: warning.to_string(),
                    })
                    .collect(),
            })
            .collect(),
    }
}

fn refusal_view(refusal: &Refusal, context: Option<&str>) -> RefusalView {
    RefusalView {
        code: refusal.code().into(),
        message: refusal.to_string(),
        way_out: refusal.way_out().into(),
        command: refusal.command(context),
    }
}

/// What the credential may do, of what Muster shows.
async fn permissions(bound: &muster_core::registry::Bound) -> Vec<Permission> {
    let first: Option<Namespace> = match &bound.record().bound {
        NamespaceBound::WholeCluster => None,
        NamespaceBound::Only(names) => names.first().cloned(),
    };
    let mut questions = vec![(Resource::Pods, "list pods", "workloads and who holds which accelerator")];
    if first.is_none() {
        questions.insert(0, (Resource::Nodes, "list nodes", "nodes and accelerators"));
        questions.push((Resource::Namespaces, "list namespaces", "the list of namespaces"));
        questions.push((
            Resource::ResourceSlices(DraVersion::V1),
            "list resource slices",
            "accelerators of DRA drivers",
        ));
    }
    let mut permissions = Vec::new();
    for (resource, what, enables) in questions {
        let question =
            AccessQuestion { verb: Verb::List, resource, subresource: None, namespace: first.clone() };
        let allowed =
            muster_core::reads::read_access(bound, &question).await.ok().map(|answer| answer.allowed);
        permissions.push(Permission { what: what.into(), allowed, enables: enables.into() });
    }
    permissions
}

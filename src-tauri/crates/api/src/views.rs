//! The view commands: a cluster, its namespaces, the pods of one.

use muster_core::reads::{NamespacesReading, Reading, read_namespaces, read_pods};
use muster_core::views::PodRow as CorePod;

use crate::app::App;
use crate::dto::cluster::ClusterView;
use crate::dto::fleet::ClusterRequest;
use crate::dto::namespace::{FailedNamespace, NamespaceList, NamespaceRow, PodList, PodRow, PodsRequest};
use crate::{AppError, ErrorKind};

impl App {
    /// A cluster with its nodes, as last read.
    pub async fn cluster_get(&self, request: ClusterRequest) -> Result<ClusterView, AppError> {
        let signed_in = self.signed_in()?;
        let member = match signed_in.fleet.member(&request.cluster) {
            Some(member) => member,
            None => {
                // It may have been registered a moment ago, by a colleague.
                signed_in.registry.get(signed_in.fleet.tenant(), &request.cluster).await?;
                signed_in.fleet.reload().await.map_err(|error| AppError::from(&*error))?;
                signed_in.fleet.member(&request.cluster).ok_or_else(AppError::signed_out)?
            }
        };
        if member.reading.is_none() && member.error.is_none() && !member.refreshing {
            signed_in.fleet.refresh(Some(&request.cluster));
        }
        let nodes = member.reading.as_deref().and_then(crate::rows::nodes);
        Ok(ClusterView { cluster: crate::rows::cluster(&member), nodes })
    }

    /// The namespaces that a registration may address.
    pub async fn namespaces_list(&self, request: ClusterRequest) -> Result<NamespaceList, AppError> {
        let signed_in = self.signed_in()?;
        let bound = signed_in.registry.reach(signed_in.fleet.tenant(), &request.cluster).await?;
        let observed_at = self.environment.clock.now().to_string();
        let reading = read_namespaces(&bound).await;
        if let NamespacesReading::WholeCluster(list) = &reading {
            unread(list, "namespaces", &request.cluster)?;
        }
        let mut namespaces: Vec<NamespaceRow> = reading
            .rows()
            .into_iter()
            .map(|row| NamespaceRow {
                name: row.name.to_string(),
                phase: row.phase.map(|phase| phase.to_string()),
                created: row.created.map(|at| at.to_string()),
            })
            .collect();
        namespaces.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(NamespaceList {
            cluster: request.cluster,
            scope: crate::rows::scope(&bound.record().bound),
            namespaces,
            observed_at,
        })
    }

    /// The pods of one namespace, or of the whole bound.
    pub async fn pods_list(&self, request: PodsRequest) -> Result<PodList, AppError> {
        let signed_in = self.signed_in()?;
        let bound = signed_in.registry.reach(signed_in.fleet.tenant(), &request.cluster).await?;
        let observed_at = self.environment.clock.now().to_string();
        let read = read_pods(&bound, request.namespace.as_deref().unwrap_or_default()).await?;
        let mut namespaces = Vec::new();
        let mut failed = Vec::new();
        for part in &read.parts {
            let name = part.namespace.as_ref().map(|namespace| namespace.as_str().to_owned());
            match unread(&part.outcome, "pods", &request.cluster) {
                Ok(()) => namespaces.extend(name),
                // Where nothing else was asked for, the failure is the answer.
                Err(error) if read.parts.len() == 1 => return Err(error),
                Err(error) => failed.push(FailedNamespace { namespace: name.unwrap_or_default(), error }),
            }
        }
        let mut pods: Vec<PodRow> = read.rows.iter().map(pod).collect();
        pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        Ok(PodList { cluster: request.cluster, namespaces, failed, pods, observed_at })
    }
}

fn unread<T>(reading: &Reading<T>, what: &str, cluster: &str) -> Result<(), AppError> {
    match reading {
        Reading::Ok(_) => Ok(()),
        Reading::Forbidden { message } => Err(AppError::new(
            "forbidden",
            ErrorKind::Forbidden,
            format!("Cluster “{cluster}” does not let the registered credential read its {what}: {message}"),
            "Ask who runs the cluster to grant the permission to this credential.",
        )),
        Reading::Absent => Err(AppError::new(
            "not_found",
            ErrorKind::Absent,
            format!("Cluster “{cluster}” does not have these {what}."),
            "It may have been deleted meanwhile.",
        )),
        Reading::OutsideBound => Err(AppError::new(
            "cluster_scope_out_of_bound",
            ErrorKind::Refused,
            format!("Cluster “{cluster}” is registered for some of its namespaces only."),
            "Open one of its namespaces.",
        )),
        Reading::Failed(error) => Err(error.into()),
    }
}

fn pod(row: &CorePod) -> PodRow {
    let accelerators = row
        .devices
        .iter()
        .filter(|(name, _)| muster_core::inventory::names::device(name).is_some())
        .map(|(name, count)| match count.units {
            Some(value) => format!("{name} × {value}"),
            None => format!("{name} × ?"),
        })
        .collect();
    PodRow {
        namespace: row.namespace.to_string(),
        name: row.name.to_string(),
        status: row.status.to_string(),
        health: row.health.as_str().to_owned(),
        ready: row.ready,
        containers: row.containers,
        restarts: row.restarts,
        last_restart: row.last_restart.map(|at| at.to_string()),
        node: row.node.as_deref().map(str::to_owned),
        ip: row.ip.as_deref().map(str::to_owned),
        owner: row.owner.as_deref().map(str::to_owned),
        created: row.created.map(|at| at.to_string()),
        accelerators,
        reason: row.reason.as_deref().map(str::to_owned),
    }
}

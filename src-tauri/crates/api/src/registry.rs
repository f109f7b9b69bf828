//! The registry commands: the fleet, deregistering, purges.

use crate::app::App;
use crate::dto::fleet::{DeregisterRequest, Deregistered, FleetView, RefreshRequest};
use crate::{AppError, ErrorKind};

impl App {
    /// The registered clusters with their last readings.
    pub async fn fleet_get(&self, (): ()) -> Result<FleetView, AppError> {
        Ok(crate::rows::fleet(&self.signed_in()?.fleet))
    }

    /// Reads one or all clusters again; of all, the index first. What comes of it is told by events.
    pub async fn fleet_refresh(&self, request: RefreshRequest) -> Result<FleetView, AppError> {
        let fleet = self.signed_in()?.fleet.clone();
        if request.cluster.is_none() {
            // The older rows stay, and the view says why they are not fresh.
            let _ = fleet.reload().await;
        }
        fleet.refresh(request.cluster.as_deref());
        Ok(crate::rows::fleet(&fleet))
    }

    /// Takes a cluster out of the registry and destroys its credential.
    pub async fn cluster_deregister(&self, request: DeregisterRequest) -> Result<Deregistered, AppError> {
        if request.typed_name != request.cluster {
            return Err(AppError::new(
                "typed_name",
                ErrorKind::Refused,
                "The name that was typed is not the cluster's.",
                "Type the cluster's name exactly.",
            ));
        }
        let signed_in = self.signed_in()?;
        let tenant = signed_in.fleet.tenant();
        let done = signed_in.registry.deregister(tenant, &request.cluster).await;
        // Whatever happened, the index may have changed.
        let _ = signed_in.fleet.reload().await;
        match done {
            Ok(outcome) => Ok(Deregistered {
                was_registered: outcome == muster_core::registry::Deregistered::Removed,
                purged: true,
            }),
            Err(error) => {
                let pending = signed_in.fleet.snapshot().pending_purges;
                if pending.iter().any(|purge| purge.name.as_str() == request.cluster) {
                    return Ok(Deregistered { was_registered: true, purged: false });
                }
                Err(error.into())
            }
        }
    }

    /// Tries again to destroy credentials that are pending.
    pub async fn purges_retry(&self, (): ()) -> Result<FleetView, AppError> {
        let signed_in = self.signed_in()?;
        let purges = signed_in.registry.retry_purges(signed_in.fleet.tenant()).await?;
        let _ = signed_in.fleet.reload().await;
        match purges.failed.into_iter().next() {
            Some((_, error)) => Err(error.into()),
            None => Ok(crate::rows::fleet(&signed_in.fleet)),
        }
    }
}

//! THE list of commands. Adding one here makes a handler in the shell, a route in the bridge and a method in the
//! generated TypeScript; the permission entry under `src-tauri/permissions` is written by hand, and a test holds the
//! two together.
//!
//! Invariant: each is a named, typed operation. Deliberately absent: anything generic ("call this URL", "apply this").

/// Calls `$callback!` with every command as `name(Request) -> Response;`, grouped by screen.
#[macro_export]
macro_rules! for_each_command {
    ($callback:ident) => {
        $callback! {
            // session
            app_info(()) -> $crate::dto::session::AppInfo;
            session_get(()) -> $crate::dto::session::SessionView;
            deployments_list(()) -> $crate::dto::session::DeploymentList;
            deployment_choose_file(()) -> $crate::dto::session::DeploymentList;
            deployment_remove($crate::dto::session::SignInRequest) -> $crate::dto::session::DeploymentList;
            sign_in_start($crate::dto::session::SignInRequest) -> $crate::dto::session::SessionView;
            sign_in_open_again(()) -> ();
            sign_in_copy_link(()) -> ();
            sign_in_cancel(()) -> $crate::dto::session::SessionView;
            demo_start(()) -> $crate::dto::session::SessionView;
            org_choose($crate::dto::session::ChooseOrgRequest) -> $crate::dto::session::SessionView;
            sign_out(()) -> $crate::dto::session::SessionView;
            // registry
            fleet_get(()) -> $crate::dto::fleet::FleetView;
            fleet_refresh($crate::dto::fleet::RefreshRequest) -> $crate::dto::fleet::FleetView;
            cluster_deregister($crate::dto::fleet::DeregisterRequest) -> $crate::dto::fleet::Deregistered;
            purges_retry(()) -> $crate::dto::fleet::FleetView;
            staged_list(()) -> Vec<$crate::dto::staging::StagedFile>;
            stage_choose_files(()) -> Vec<$crate::dto::staging::StagedFile>;
            stage_paste(()) -> Vec<$crate::dto::staging::StagedFile>;
            staged_discard($crate::dto::staging::StagedRequest) -> Vec<$crate::dto::staging::StagedFile>;
            staged_probe($crate::dto::staging::ProbeRequest) -> $crate::dto::staging::ProbePreview;
            staged_register($crate::dto::staging::RegisterRequest) -> $crate::dto::fleet::ClusterRow;
            // views
            cluster_get($crate::dto::fleet::ClusterRequest) -> $crate::dto::cluster::ClusterView;
            namespaces_list($crate::dto::fleet::ClusterRequest) -> $crate::dto::namespace::NamespaceList;
            pods_list($crate::dto::namespace::PodsRequest) -> $crate::dto::namespace::PodList;
            live_use_sources($crate::dto::fleet::ClusterRequest) -> $crate::dto::usage::UseSources;
            live_use_get($crate::dto::usage::LiveUseRequest) -> $crate::dto::usage::LiveUse;
        }
    };
}

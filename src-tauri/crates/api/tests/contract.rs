//! What has to stay equal across files: the command list, the permission files, the capability, the generated
//! TypeScript, the content security policy, and who may depend on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use muster_api::bindings::{COMMAND_NAMES, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn permission_files() -> Vec<toml::Table> {
    let folder = std::fs::read_dir(root().join("src-tauri/permissions")).expect("the folder is there");
    folder
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a file"))
        .map(|text| text.parse().expect("it is TOML"))
        .collect()
}

/// Permission identifier -> the commands it allows.
fn permissions() -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::new();
    for file in permission_files() {
        for permission in file["permission"].as_array().expect("permissions") {
            let allowed = permission["commands"]["allow"].as_array().expect("a list");
            let allowed = allowed.iter().map(|name| name.as_str().expect("a name").to_owned()).collect();
            all.insert(permission["identifier"].as_str().expect("an identifier").to_owned(), allowed);
        }
    }
    all
}

#[test]
fn every_command_has_a_permission_of_its_own_and_every_permission_a_command() {
    let commands: BTreeSet<String> = COMMAND_NAMES.iter().map(|name| (*name).to_owned()).collect();
    let permissions = permissions();
    assert!(permissions.values().all(|allowed| allowed.len() == 1), "a permission allows one command");
    let allowed: Vec<String> = permissions.values().flatten().cloned().collect();
    assert_eq!(allowed.len(), commands.len(), "no command has two permissions");
    assert_eq!(allowed.into_iter().collect::<BTreeSet<_>>(), commands);
}

#[test]
fn the_window_holds_the_sets_of_our_own_commands_and_two_permissions_for_listening() {
    let capability: serde_json::Value =
        serde_json::from_str(&read("src-tauri/capabilities/main.json")).expect("it is JSON");
    let held: BTreeSet<&str> =
        capability["permissions"].as_array().expect("a list").iter().filter_map(|p| p.as_str()).collect();
    let foreign: Vec<&&str> = held.iter().filter(|name| name.contains(':')).collect();
    assert_eq!(foreign, [&"core:event:allow-listen", &"core:event:allow-unlisten"]);
    let mut in_sets = BTreeSet::new();
    for file in permission_files() {
        for set in file["set"].as_array().expect("sets") {
            assert!(
                held.contains(set["identifier"].as_str().expect("an identifier")),
                "a set that nobody holds"
            );
            in_sets.extend(
                set["permissions"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .filter_map(|p| p.as_str())
                    .map(str::to_owned),
            );
        }
    }
    assert_eq!(in_sets, permissions().into_keys().collect(), "every permission is in a set");
}

#[test]
fn the_typescript_in_the_repository_is_what_the_list_generates() {
    assert!(read("ui/src/backend/bindings.ts") == text(), "run `cargo run -p muster-api --bin bindings`");
}

#[test]
fn the_content_security_policy_lets_no_script_or_style_in_from_elsewhere() {
    let config: serde_json::Value = serde_json::from_str(&read("tauri.conf.json")).expect("it is JSON");
    let policy = config["app"]["security"]["csp"].as_str().expect("a policy");
    let directives: BTreeMap<&str, &str> =
        policy.split(';').filter_map(|directive| directive.trim().split_once(' ')).collect();
    assert_eq!(directives["default-src"], "'none'");
    assert_eq!(directives["script-src"], "'self'");
    assert_eq!(directives["style-src"], "'self'");
    assert_eq!(directives["frame-src"], "'none'");
    // Without these two, commands silently take a slower way in a release build.
    assert_eq!(directives["connect-src"], "ipc: http://ipc.localhost");
    for unsafe_word in ["unsafe-", "data:", "blob:", "https:", "*"] {
        assert!(!policy.contains(unsafe_word), "{unsafe_word} in the policy");
    }
    assert_eq!(config["app"]["withGlobalTauri"], false);
    assert_eq!(config["app"]["security"]["assetProtocol"]["enable"], false);
    assert_eq!(config["app"]["security"]["freezePrototype"], true);
}

#[test]
fn dependencies_point_one_way() {
    let manifests = [
        (
            "core",
            read("src-tauri/crates/core/Cargo.toml"),
            &["tauri", "muster-api", "muster-testkit", "ts-rs"][..],
        ),
        ("api", read("src-tauri/crates/api/Cargo.toml"), &["tauri", "axum"][..]),
        ("testkit", read("src-tauri/crates/testkit/Cargo.toml"), &["tauri", "muster-api", "ts-rs"][..]),
        ("bridge", read("src-tauri/crates/bridge/Cargo.toml"), &["tauri"][..]),
    ];
    for (name, manifest, forbidden) in manifests {
        let manifest: toml::Table = manifest.parse().expect("it is TOML");
        let dependencies = manifest["dependencies"].as_table().expect("dependencies");
        for crate_name in forbidden {
            assert!(!dependencies.contains_key(*crate_name), "{name} must not depend on {crate_name}");
        }
    }
    let shell: toml::Table = read("Cargo.toml").parse().expect("it is TOML");
    for plugin in ["tauri-plugin-fs", "tauri-plugin-shell", "tauri-plugin-http", "tauri-plugin-opener"] {
        assert!(!shell["dependencies"].as_table().expect("dependencies").contains_key(plugin), "{plugin}");
    }
}

#[test]
fn every_tauri_command_is_asynchronous() {
    // A synchronous one would run on the window's own thread and freeze it.
    let source = read("src-tauri/src/commands.rs");
    let (_, after) = source.split_once("#[tauri::command]").expect("the macro is there");
    assert!(after.trim_start().starts_with("pub async fn"), "the command macro");
    for entry in std::fs::read_dir(root().join("src-tauri/src")).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let is_other = path.file_name().is_some_and(|name| name != "commands.rs");
        if is_other && path.is_file() {
            let text = std::fs::read_to_string(&path).expect("a file");
            assert!(!text.contains("tauri::command"), "{} has commands beside the list", path.display());
        }
    }
}

#[test]
fn only_one_file_of_the_ui_imports_tauri() {
    fn visit(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, found);
            } else if std::fs::read_to_string(&path)
                .is_ok_and(|text| text.contains("from '@tauri-apps") || text.contains("from \"@tauri-apps"))
            {
                found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
            }
        }
    }
    let mut found = Vec::new();
    visit(&root().join("ui/src"), &mut found);
    assert_eq!(found, ["tauri.ts"]);
}

//! A folder with a configuration, and Terraform in it.

use crate::server::Server;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output};

/// The examples of the documentation.
pub const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");

/// What Terraform said.
pub struct Said {
    /// Exit code; of a plan, 2 means changes.
    pub code: i32,
    /// Both streams.
    pub text: String,
}

impl Said {
    /// Whether it says this, wherever lines are broken.
    pub fn says(&self, words: &str) -> bool {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    }
}

/// A folder.
pub struct Folder {
    /// Where.
    pub path: PathBuf,
    /// Variables of Terraform.
    pub environment: HashMap<String, String>,
}

impl Folder {
    /// A folder with these lines as configuration.
    pub fn new(server: &Server, name: &str, configuration: &str) -> Self {
        let path = server.folder.join(name);
        fs::create_dir_all(&path).unwrap();
        let rc = server.folder.join("terraform.rc");
        let provider = provider();
        let provider = provider.parent().unwrap();
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"registry.example.com/berth/berth\" = \"{}\"\n  }}\n  direct {{}}\n}}\n",
            provider.display()
        );
        fs::write(&rc, text).unwrap();
        let mut environment = server.environment();
        environment.insert("TF_CLI_CONFIG_FILE".to_owned(), rc.display().to_string());
        environment.insert("CHECKPOINT_DISABLE".to_owned(), "1".to_owned());
        let folder = Self { path, environment };
        let versions = format!("{EXAMPLES}/berth_plan/provider.tf");
        fs::copy(versions, folder.path.join("provider.tf")).unwrap();
        folder.configure(configuration);
        folder
    }

    /// A folder with an example.
    pub fn example(server: &Server, name: &str) -> Self {
        let text = fs::read_to_string(format!("{EXAMPLES}/{name}/main.tf")).unwrap();
        Self::new(server, name, &text)
    }

    /// Another configuration.
    pub fn configure(&self, configuration: &str) {
        fs::write(self.path.join("main.tf"), configuration).unwrap();
    }

    /// Changes the configuration.
    pub fn replace(&self, from: &str, to: &str) {
        let text = fs::read_to_string(self.path.join("main.tf")).unwrap();
        assert!(text.contains(from), "the configuration has no {from}");
        self.configure(&text.replace(from, to));
    }

    /// Runs Terraform.
    pub fn run(&self, arguments: &[&str]) -> Said {
        let Output { status, stdout, stderr } = Command::new("terraform")
            .args(arguments)
            .arg("-no-color")
            .current_dir(&self.path)
            .envs(&self.environment)
            .output()
            .unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        Said { code: status.code().unwrap_or(-1), text }
    }

    /// Runs Terraform, which must succeed.
    pub fn must(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(
            said.code,
            0,
            "terraform {arguments:?} in {}:\n{}",
            self.path.display(),
            said.text
        );
        said.text
    }

    /// Applies.
    pub fn apply(&self) {
        self.must(&["apply", "-auto-approve"]);
    }

    /// Destroys.
    pub fn destroy(&self) {
        self.must(&["destroy", "-auto-approve"]);
        let left = self.resources();
        assert!(left.is_empty(), "destroy left {left:?}");
    }

    /// Plans.
    pub fn plan(&self) -> Said {
        self.run(&["plan", "-detailed-exitcode"])
    }

    /// Plans, and there is nothing to do.
    pub fn is_done(&self) {
        let said = self.plan();
        assert_eq!(
            said.code,
            0,
            "a second plan in {} has changes:\n{}",
            self.path.display(),
            said.text
        );
    }

    /// The state file.
    pub fn state(&self) -> String {
        fs::read_to_string(self.path.join("terraform.tfstate")).unwrap_or_default()
    }

    /// The provider's managed resources: type, name, attributes.
    pub fn resources(&self) -> Vec<(String, String, Json)> {
        let state: Json = serde_json::from_str(&self.state()).unwrap_or_default();
        let mut found = Vec::new();
        for resource in state["resources"].as_array().into_iter().flatten() {
            let (kind, name) = (resource["type"].as_str(), resource["name"].as_str());
            let (kind, name) = (kind.unwrap(), name.unwrap());
            if resource["mode"] == "managed" && kind.starts_with("berth_") {
                for instance in resource["instances"].as_array().unwrap() {
                    let key = match &instance["index_key"] {
                        Json::Null => String::new(),
                        key => format!("[{key}]"),
                    };
                    found.push((
                        kind.to_owned(),
                        format!("{name}{key}"),
                        instance["attributes"].clone(),
                    ));
                }
            }
        }
        found
    }

    /// The attributes that a plan would change.
    pub fn changes(&self) -> BTreeSet<String> {
        self.must(&["plan", "-out=changes.plan"]);
        let shown = self.must(&["show", "-json", "changes.plan"]);
        let shown = shown.lines().find(|line| line.starts_with('{')).unwrap();
        let plan: Json = serde_json::from_str(shown).unwrap();
        let mut names = BTreeSet::new();
        for resource in plan["resource_changes"].as_array().into_iter().flatten() {
            let change = &resource["change"];
            if let Some(after) = change["after"].as_object() {
                let differ =
                    after.iter().filter(|(name, value)| change["before"][name.as_str()] != **value);
                names.extend(differ.map(|(name, _)| name.clone()));
            }
            let unknown = change["after_unknown"].as_object().into_iter().flatten();
            names.extend(
                unknown.filter(|(_, unknown)| **unknown == true).map(|(name, _)| name.clone()),
            );
        }
        names
    }

    /// All bytes of a plan file.
    pub fn plan_bytes(&self) -> Vec<u8> {
        self.must(&["plan", "-out=bytes.plan"]);
        let file = fs::File::open(self.path.join("bytes.plan")).unwrap();
        let mut archive = zip::ZipArchive::new(file).unwrap();
        let mut bytes = Vec::new();
        for index in 0..archive.len() {
            archive.by_index(index).unwrap().read_to_end(&mut bytes).unwrap();
        }
        bytes
    }
}

/// The program that is tested: that of this build, or the one in `PROVIDER`.
pub fn provider() -> PathBuf {
    let built = env!("CARGO_BIN_EXE_terraform-provider-berth");
    std::env::var_os("PROVIDER").map_or_else(|| PathBuf::from(built), PathBuf::from)
}

/// What names an object for `terraform import`.
pub fn import_id(kind: &str, attributes: &Json) -> String {
    let of = |name: &str| attributes[name].as_str().unwrap_or_default().to_owned();
    let in_tenant = |name: &str| match attributes["tenant"].as_str() {
        Some(tenant) => format!("{tenant}/{}", of(name)),
        None => of(name),
    };
    match kind {
        "berth_tenant" | "berth_operator_key" => of("id"),
        "berth_api_key" => in_tenant("id"),
        "berth_user" => in_tenant("email"),
        "berth_concurrency_limit" => of("key"),
        "berth_tenant_billing" => of("tenant"),
        _ => of("name"),
    }
}

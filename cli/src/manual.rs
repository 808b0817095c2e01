//! `berth completions` and `berth man`: made from the arguments themselves, so that they cannot be out of date.

use crate::failure::Failure;
use crate::output;
use clap::Command;
use clap_complete::Shell;
use std::io::stdout;
use std::path::PathBuf;

/// Which shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth completions bash > ~/.local/share/bash-completion/completions/berth\n  \
                  berth completions zsh > ~/.zfunc/_berth\n  berth completions fish > ~/.config/fish/completions/berth.fish"
)]
pub struct CompletionsArguments {
    /// Shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Where to.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth man /usr/local/share/man/man1")]
pub struct ManArguments {
    /// Existing folder.
    pub folder: PathBuf,
}

/// Writes a shell's completions of `berth` to standard output.
pub fn completions(arguments: &CompletionsArguments, mut berth: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut berth, "berth", &mut script);
    output::bytes(&mut stdout().lock(), &script)
}

/// Writes a manual page for each command of `berth` into a folder.
pub fn man(arguments: &ManArguments, berth: Command) -> Result<(), Failure> {
    let folder = &arguments.folder;
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "{} is not a folder; create it first",
            folder.display()
        )));
    }
    clap_mangen::generate_to(berth, folder).map_err(|error| {
        Failure::failed(format!("cannot write into {}: {error}", folder.display()))
    })?;
    output::remark(&format!(
        "Manual pages are in {}; to read one: man {}/berth.1",
        folder.display(),
        folder.display()
    ));
    Ok(())
}

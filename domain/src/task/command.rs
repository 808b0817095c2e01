//! What of a command no Linux kernel would start, found before it is stored.
//!
//! `execve(2)` refuses it on every executor and in every attempt, so it is a mistake of the submit. The sandbox hands a command its
//! arguments and variables in a file and not on a command line of its own, so these bounds are those of the command's own `execve`.

use std::collections::BTreeMap;

/// Longest argument, and longest variable as `NAME=value`, bytes: the kernel's `MAX_ARG_STRLEN` without the NUL at the end.
pub const MAX_STRING: usize = 131_071;
/// Longest path of a program, bytes: `PATH_MAX` without the NUL at the end.
const MAX_PROGRAM: usize = 4095;
/// Longest part of a path, bytes: `NAME_MAX`.
const MAX_PART: usize = 255;
/// What an entry takes besides its text: the NUL at its end, and a pointer.
const ENTRY: usize = 9;
/// Most bytes of all arguments and variables, each counted with 9 bytes more for its end and a pointer. The kernel takes a quarter of the stack limit, which is
/// 8 MiB where nobody changed it; an eighth of a mebibyte is left to what Berth adds, to the program's resolved path and to the
/// interpreter of a script.
pub const MAX_COMMAND_BYTES: usize = 2 * 1024 * 1024 - 128 * 1024;

/// Why a command can never be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    /// The program's name is empty.
    #[error("must name a program")]
    NoProgram,
    /// The program's path is longer than any path.
    #[error(
        "must be a path of {MAX_PROGRAM} bytes at most, and each part of it of {MAX_PART} at most"
    )]
    Program,
    /// C strings end at a NUL.
    #[error("must not contain a NUL character")]
    Nul,
    /// Over [`MAX_STRING`].
    #[error(
        "must have {MAX_STRING} bytes at most: the system starts no program with a longer argument; use `stdin`"
    )]
    LongArgument,
    /// Over [`MAX_STRING`], with its name.
    #[error(
        "must have {MAX_STRING} bytes at most, its name and `=` included: the system starts no program with a longer variable"
    )]
    LongVariable,
    /// A name that no environment can hold.
    #[error("must have a name without `=` and NUL")]
    Name,
    /// Over [`MAX_COMMAND_BYTES`].
    #[error(
        "must have {MAX_COMMAND_BYTES} bytes at most in `argv` and `env` together, each entry counted with {ENTRY} bytes more: \
         the system starts no program with more; use `stdin`"
    )]
    TooLarge,
}

/// Checks the argument at place `at`; the one at 0 is the program.
///
/// # Errors
/// Why no command can have it.
pub fn check_argument(at: usize, text: &str) -> Result<(), CommandProblem> {
    if text.contains('\0') {
        return Err(CommandProblem::Nul);
    }
    if at == 0 {
        if text.is_empty() {
            return Err(CommandProblem::NoProgram);
        }
        if text.len() > MAX_PROGRAM || text.split('/').any(|part| part.len() > MAX_PART) {
            return Err(CommandProblem::Program);
        }
    }
    if text.len() > MAX_STRING { Err(CommandProblem::LongArgument) } else { Ok(()) }
}

/// Checks one variable of the environment.
///
/// # Errors
/// Why no environment can hold it.
pub fn check_variable(name: &str, value: &str) -> Result<(), CommandProblem> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(CommandProblem::Name);
    }
    if value.contains('\0') {
        return Err(CommandProblem::Nul);
    }
    if name.len() + 1 + value.len() > MAX_STRING {
        return Err(CommandProblem::LongVariable);
    }
    Ok(())
}

/// Checks all of a command together.
///
/// # Errors
/// [`CommandProblem::TooLarge`].
pub fn check_command_size(
    argv: &[String],
    env: &BTreeMap<String, String>,
) -> Result<(), CommandProblem> {
    let arguments: usize = argv.iter().map(|text| text.len() + ENTRY).sum();
    let variables: usize =
        env.iter().map(|(name, value)| name.len() + 1 + value.len() + ENTRY).sum();
    if arguments + variables > MAX_COMMAND_BYTES { Err(CommandProblem::TooLarge) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_may_be_as_long_as_the_kernel_takes_and_no_longer() {
        assert_eq!(check_argument(1, &"a".repeat(MAX_STRING)), Ok(()));
        assert_eq!(
            check_argument(1, &"a".repeat(MAX_STRING + 1)),
            Err(CommandProblem::LongArgument)
        );
        // Bytes count, not characters.
        assert_eq!(
            check_argument(1, &"é".repeat(MAX_STRING / 2 + 1)),
            Err(CommandProblem::LongArgument)
        );
        assert_eq!(check_argument(1, ""), Ok(()));
        assert_eq!(check_argument(1, "a\0b"), Err(CommandProblem::Nul));
    }

    #[test]
    fn a_program_is_a_path_that_can_exist() {
        let long = format!("/{}", "d/".repeat(2047));
        assert_eq!(long.len(), MAX_PROGRAM);
        for fine in ["a", "/bin/sh", "./a b", &"a".repeat(MAX_PART), &long] {
            assert_eq!(check_argument(0, fine), Ok(()), "{fine}");
        }
        assert_eq!(check_argument(0, ""), Err(CommandProblem::NoProgram));
        assert_eq!(check_argument(0, "\0"), Err(CommandProblem::Nul));
        for bad in
            [format!("{long}d"), "a".repeat(MAX_PART + 1), format!("/bin/{}", "a".repeat(256))]
        {
            assert_eq!(check_argument(0, &bad), Err(CommandProblem::Program), "{bad}");
        }
    }

    #[test]
    fn a_variable_is_counted_with_its_name() {
        assert_eq!(check_variable("A", &"v".repeat(MAX_STRING - 2)), Ok(()));
        assert_eq!(
            check_variable("A", &"v".repeat(MAX_STRING - 1)),
            Err(CommandProblem::LongVariable)
        );
        assert_eq!(check_variable(&"N".repeat(MAX_STRING), ""), Err(CommandProblem::LongVariable));
        for bad in ["", "A=B", "A\0"] {
            assert_eq!(check_variable(bad, "v"), Err(CommandProblem::Name), "{bad:?}");
        }
        assert_eq!(check_variable("A", "\0"), Err(CommandProblem::Nul));
    }

    #[test]
    fn all_of_a_command_is_counted_with_its_pointers() {
        let argv = vec!["a".repeat(100_000); 19];
        let left = MAX_COMMAND_BYTES - 19 * (100_000 + ENTRY);
        let env = |bytes: usize| BTreeMap::from([("A".to_owned(), "v".repeat(bytes))]);
        assert_eq!(check_command_size(&argv, &env(left - ENTRY - 2)), Ok(()));
        assert_eq!(
            check_command_size(&argv, &env(left - ENTRY - 1)),
            Err(CommandProblem::TooLarge)
        );
    }
}

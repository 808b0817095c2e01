//! Reads the modules of a crate: which there are, and which paths each names.
//!
//! Called by `graph`. It reads tokens and no syntax tree, so paths inside macros count like all others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A module, as the names on the way from the root of its crate.
pub type ModulePath = Vec<String>;

/// Gives the text of a source file, or `None` when there is no such file.
pub type Sources<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// A path in a module's code.
pub struct Mention {
    pub path: Vec<String>,
    pub file: PathBuf,
    pub line: usize,
    /// The name that a `pub use` gives it.
    pub exported_as: Option<String>,
}

/// One module: what it declares, imports and names.
#[derive(Default)]
pub struct Module {
    pub is_file: bool,
    pub children: BTreeSet<String>,
    /// Imported names and what they stand for.
    pub imports: BTreeMap<String, Vec<String>>,
    pub globs: Vec<Vec<String>>,
    pub mentions: Vec<Mention>,
    /// All identifiers outside `use`.
    pub words: BTreeSet<String>,
}

/// All modules of the crate whose root is `root`.
pub fn modules(root: &Path, sources: Sources<'_>) -> BTreeMap<ModulePath, Module> {
    let mut reader = Reader { sources, modules: BTreeMap::new() };
    let folder = root.parent().expect("a file is in a folder");
    let text = sources(root).unwrap_or_else(|| panic!("there is no {}", root.display()));
    reader.file(&[], &text, Scope { file: root.to_owned(), folder: folder.to_owned() });
    reader.modules
}

/// The file whose tokens are read, and the folder of the modules it declares.
struct Scope {
    file: PathBuf,
    folder: PathBuf,
}

struct Reader<'a> {
    sources: Sources<'a>,
    modules: BTreeMap<ModulePath, Module>,
}

impl Reader<'_> {
    fn file(&mut self, module: &[String], text: &str, scope: Scope) {
        let tokens = TokenStream::from_str(text)
            .unwrap_or_else(|error| panic!("{}: {error}", scope.file.display()));
        self.module(module).is_file = true;
        self.tokens(module, tokens, &scope);
    }

    fn module(&mut self, module: &[String]) -> &mut Module {
        self.modules.entry(module.to_vec()).or_default()
    }

    fn tokens(&mut self, module: &[String], tokens: TokenStream, scope: &Scope) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            let length = match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' && is_test(rest) => {
                    2 + item_length(&rest[2..])
                }
                TokenTree::Group(group) => {
                    self.tokens(module, group.stream(), scope);
                    1
                }
                TokenTree::Ident(word) if word == "pub" => visibility_length(rest),
                TokenTree::Ident(word) if word == "mod" => {
                    self.declaration(module, rest, scope).unwrap_or(1)
                }
                TokenTree::Ident(word) if word == "use" && !is_mark(rest.get(1), '<') => {
                    let length = rest.iter().take_while(|token| !is_mark(Some(token), ';')).count();
                    let tree = &rest[1..length];
                    self.import(module, tree, &Tree { prefix: &[], is_public, scope });
                    length
                }
                TokenTree::Ident(word) if at < 2 || !is_path_mark(&tokens[at - 2..]) => {
                    let (path, length) = path(rest);
                    let content = self.module(module);
                    content.words.insert(path[0].clone());
                    if path.len() > 1 {
                        let (file, line) = (scope.file.clone(), word.span().start().line);
                        content.mentions.push(Mention { path, file, line, exported_as: None });
                    }
                    length
                }
                _ => 1,
            };
            is_public = matches!(token, TokenTree::Ident(word) if word == "pub");
            at += length;
        }
    }

    /// `mod name;` or `mod name { .. }`: reads that module. Returns its tokens, `None` when it is another `mod`.
    fn declaration(
        &mut self,
        parent: &[String],
        tokens: &[TokenTree],
        scope: &Scope,
    ) -> Option<usize> {
        let Some(TokenTree::Ident(name)) = tokens.get(1) else { return None };
        let name = plain(name);
        let module = [parent, &[name.clone()][..]].concat();
        let folder = scope.folder.join(&name);
        match tokens.get(2)? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                self.module(&module);
                let scope = Scope { file: scope.file.clone(), folder };
                self.tokens(&module, group.stream(), &scope);
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => {
                let files = [scope.folder.join(format!("{name}.rs")), folder.join("mod.rs")];
                let (file, text) = files
                    .into_iter()
                    .find_map(|file| (self.sources)(&file).map(|text| (file, text)))
                    .unwrap_or_else(|| panic!("{}: no `{name}`", scope.file.display()));
                self.file(&module, &text, Scope { file, folder });
            }
            _ => return None,
        }
        self.module(parent).children.insert(name);
        Some(3)
    }

    /// One tree of a `use`, or what is in its braces.
    fn import(&mut self, module: &[String], tokens: &[TokenTree], tree: &Tree<'_>) {
        for branch in tokens.split(|token| is_mark(Some(token), ',')) {
            let Some(first) = branch.first() else { continue };
            let mut path = tree.prefix.to_vec();
            let mut words = branch.iter();
            let mut name = None;
            let mut is_glob = false;
            let mut has_branches = false;
            while let Some(token) = words.next() {
                match token {
                    TokenTree::Ident(word) if word == "as" => {
                        name = words.next().map(ToString::to_string);
                    }
                    TokenTree::Ident(word) => path.push(plain(word)),
                    TokenTree::Group(group) => {
                        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                        self.import(module, &inner, &Tree { prefix: &path, ..*tree });
                        has_branches = true;
                    }
                    TokenTree::Punct(mark) => is_glob |= mark.as_char() == '*',
                    TokenTree::Literal(_) => {}
                }
            }
            if has_branches {
                continue;
            }
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
            let content = self.module(module);
            if is_glob {
                content.globs.push(path.clone());
            } else {
                content.imports.insert(name.clone(), path.clone());
            }
            let (file, line) = (tree.scope.file.clone(), first.span().start().line);
            let exported_as = tree.is_public.then_some(name);
            content.mentions.push(Mention { path, file, line, exported_as });
        }
    }
}

/// What is the same for all branches of a `use`.
#[derive(Clone, Copy)]
struct Tree<'a> {
    prefix: &'a [String],
    is_public: bool,
    scope: &'a Scope,
}

/// Without the mark of a raw identifier.
fn plain(word: &proc_macro2::Ident) -> String {
    let word = word.to_string();
    word.strip_prefix("r#").map_or(word.clone(), str::to_owned)
}

fn is_mark(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// Whether they begin with `::`.
fn is_path_mark(tokens: &[TokenTree]) -> bool {
    is_mark(tokens.first(), ':') && is_mark(tokens.get(1), ':')
}

/// The names joined by `::` that the tokens begin with, and how many tokens these are.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut length = 0;
    while let Some(TokenTree::Ident(word)) = tokens.get(length) {
        path.push(plain(word));
        length += 1;
        if !is_path_mark(&tokens[length..])
            || !matches!(tokens.get(length + 2), Some(TokenTree::Ident(_)))
        {
            break;
        }
        length += 2;
    }
    (path, length)
}

/// `pub`, `pub(crate)` or `pub(in path)`: that path is no use of a module.
fn visibility_length(tokens: &[TokenTree]) -> usize {
    match tokens.get(1) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => 2,
        _ => 1,
    }
}

/// Whether they begin with `#[cfg(test)]`.
fn is_test(tokens: &[TokenTree]) -> bool {
    matches!(tokens.get(1), Some(TokenTree::Group(group)) if group.stream().to_string().replace(' ', "") == "cfg(test)")
}

/// The tokens of the item they begin with: up to its `;` or its braces.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_mark(Some(token), ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1)
}

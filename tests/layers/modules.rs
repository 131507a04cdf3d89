//! The modules of a crate, what each defines and imports, and which files import from which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use crate::circles::Imports;

type Segments = Vec<String>;

/// A module: the file that it stands in, its items, and the names that it imports.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    /// The name that an import goes by here, and the path it stands for.
    uses: Vec<(String, Segments)>,
    globs: Vec<Segments>,
    /// Paths of expressions, types and macros.
    paths: BTreeSet<Segments>,
}

/// The modules of a crate by their paths, the root's being empty; tests are left out.
pub struct Crate {
    modules: BTreeMap<Segments, Module>,
    root: PathBuf,
}

impl Crate {
    /// Reads a crate from its `lib.rs` or `main.rs`.
    pub fn read(file: &Path) -> Self {
        let root = file.parent().unwrap().to_owned();
        let mut this = Self {
            modules: BTreeMap::new(),
            root,
        };
        this.read_file(vec![], file, file.parent().unwrap());
        this
    }

    /// Reads a module's file; files of its submodules are in `folder`.
    fn read_file(&mut self, path: Segments, file: &Path, folder: &Path) {
        let text = std::fs::read_to_string(file).unwrap();
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.strip_prefix(&self.root).unwrap().display().to_string();
        self.read_items(path, name, &parsed.items, folder);
    }

    fn read_items(&mut self, path: Segments, file: String, items: &[syn::Item], folder: &Path) {
        let mut module = Module {
            file: file.clone(),
            ..Module::default()
        };
        for item in items.iter().filter(|item| !is_test(item)) {
            match item {
                syn::Item::Mod(submodule) => {
                    let name = submodule.ident.to_string();
                    let path: Segments = path.iter().cloned().chain([name.clone()]).collect();
                    let inside = folder.join(&name);
                    match &submodule.content {
                        Some((_, items)) => self.read_items(path, file.clone(), items, &inside),
                        None => {
                            let short = folder.join(format!("{name}.rs"));
                            let long = inside.join("mod.rs");
                            self.read_file(
                                path,
                                if short.exists() { &short } else { &long },
                                &inside,
                            );
                        }
                    }
                }
                syn::Item::Use(import) => module.import(vec![], &import.tree),
                item => {
                    module.items.extend(name_of(item));
                    module.visit_item(item);
                }
            }
        }
        self.modules.insert(path, module);
    }

    /// For each file, the files of the crate that it imports from. That a submodule imports from the
    /// file that declares it does not count.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (path, module) in &self.modules {
            let parent = path
                .split_last()
                .map(|(_, parent)| &self.modules[parent].file);
            let uses = module
                .uses
                .iter()
                .map(|(_, path)| path)
                .chain(&module.globs);
            let files = uses
                .chain(&module.paths)
                .filter_map(|used| self.file_of(path, used, 0));
            let others = files.filter(|file| *file != module.file && Some(file) != parent);
            imports
                .entry(module.file.clone())
                .or_default()
                .extend(others);
        }
        imports
    }

    /// The file in which a path ends that is written in the module `at`; `None` for other crates' paths.
    fn file_of(&self, at: &[String], used: &[String], depth: usize) -> Option<String> {
        let (first, rest) = used.split_first()?;
        match first.as_str() {
            "crate" => self.walk(&[], rest, depth),
            "self" => self.walk(at, rest, depth),
            "super" => self.file_of_super(at, rest, depth),
            _ => self.walk(at, used, depth),
        }
    }

    fn file_of_super(&self, at: &[String], rest: &[String], depth: usize) -> Option<String> {
        let (_, parent) = at.split_last()?;
        match rest.split_first() {
            Some((next, rest)) if next == "super" => self.file_of_super(parent, rest, depth),
            _ => self.walk(parent, rest, depth),
        }
    }

    /// Follows a path from a module, through re-exports, to the file that defines its item.
    fn walk(&self, at: &[String], path: &[String], depth: usize) -> Option<String> {
        let module = self.modules.get(at)?;
        let Some((first, rest)) = path.split_first() else {
            return Some(module.file.clone());
        };
        let inside: Segments = at.iter().cloned().chain([first.clone()]).collect();
        if self.modules.contains_key(&inside) {
            return self.walk(&inside, rest, depth);
        }
        if module.items.contains(first) {
            return Some(module.file.clone());
        }
        if depth > 16 {
            return None;
        }
        if let Some((_, used)) = module.uses.iter().find(|(name, _)| name == first) {
            let used: Segments = used.iter().chain(rest).cloned().collect();
            return self.file_of(at, &used, depth + 1);
        }
        let through = |glob: &Segments| {
            let used: Segments = glob.iter().chain(path).cloned().collect();
            self.file_of(at, &used, depth + 1)
        };
        module.globs.iter().find_map(through)
    }
}

impl Module {
    fn import(&mut self, mut path: Segments, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.import(path, &step.tree);
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                self.uses.push((name, path));
            }
            syn::UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.uses.push((name.ident.to_string(), path));
            }
            syn::UseTree::Rename(name) => {
                path.push(name.ident.to_string());
                self.uses.push((name.rename.to_string(), path));
            }
            syn::UseTree::Glob(_) => self.globs.push(path),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(path.clone(), tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Segments = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if path.leading_colon.is_none() && segments.len() > 1 {
            self.paths.insert(segments);
        }
        visit::visit_path(self, path);
    }
}

/// Whether an item is compiled for tests alone.
fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    let test = |attribute: &syn::Attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
    };
    attributes.iter().any(test)
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

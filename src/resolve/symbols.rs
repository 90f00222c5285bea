//! Which variable a name is: jinja2 3.1.6 `idtracking.py`, class by class.
//!
//! Each scope of Jinja has a [`Table`]: what its names refer to, how the variables get their first value, which names it sets. A
//! variable is an [`Ident`]: its level and its name as Python folds identifiers, which is what the reference writes as `l_1_x`; two
//! scopes side by side on one level therefore share it, as they do there.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;

use crate::ast::Symbol;

/// A variable of the generated Python function: its level and its folded name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ident {
    /// The level of the scope that defined it.
    pub level: u32,
    /// Its name after Python's NFKC.
    pub folded: Symbol,
}

/// How a variable gets its first value in its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// It is a parameter: whoever makes it gives it a value.
    Parameter,
    /// It is looked up in the context.
    Resolve(Symbol),
    /// It is a copy of an outer variable.
    Alias(Ident),
    /// It is missing.
    Undefined,
}

/// The number of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableId(usize);

/// `idtracking.Symbols`
#[derive(Clone, Debug, Default)]
struct Table {
    level: u32,
    parent: Option<TableId>,
    /// What a branch of an `if` began with. The reference copies it; here a branch holds only what it changes, so that many branches
    /// cost no more than what they do.
    base: Option<TableId>,
    refs: HashMap<Symbol, Ident>,
    loads: IndexMap<Ident, Instruction>,
    stores: BTreeSet<Symbol>,
}

/// All tables of a template.
#[derive(Debug, Default)]
pub(super) struct Tables {
    tables: Vec<Table>,
    /// The folded name of each symbol that folds to another one.
    folded: HashMap<Symbol, Symbol>,
}

impl Tables {
    /// Says that Python reads a name as another one.
    pub fn fold(&mut self, symbol: Symbol, folded: Symbol) {
        self.folded.insert(symbol, folded);
    }

    /// A table of level 0, or one below `parent`.
    pub fn add(&mut self, parent: Option<TableId>) -> TableId {
        let level = parent.map_or(0, |parent| self.level(parent).saturating_add(1));
        self.push(Table {
            level,
            parent,
            ..Table::default()
        })
    }

    /// `Symbols.copy`: a branch of a table.
    pub fn branch(&mut self, id: TableId) -> TableId {
        let Table { level, parent, .. } = *self.table(id);
        self.push(Table {
            level,
            parent,
            base: Some(id),
            ..Table::default()
        })
    }

    fn push(&mut self, table: Table) -> TableId {
        let id = TableId(self.tables.len());
        self.tables.push(table);
        id
    }

    /// The level of a table.
    pub fn level(&self, id: TableId) -> u32 {
        self.table(id).level
    }

    /// What is loaded when the scope is entered.
    pub fn loads(&self, id: TableId) -> impl Iterator<Item = (Ident, Instruction)> + '_ {
        self.table(id).loads.iter().map(|(ident, load)| (*ident, *load))
    }

    /// The variables of all names that a scope and those around it set, the innermost first (`dump_stores`).
    pub fn all_stores(&self, id: TableId) -> Vec<(Symbol, Ident)> {
        let mut found: IndexMap<Symbol, Ident> = IndexMap::new();
        let mut at = Some(id);
        while let Some(current) = at {
            for symbol in &self.table(current).stores {
                if let Some(ident) = self.find_ref(id, *symbol) {
                    found.entry(*symbol).or_insert(ident);
                }
            }
            at = self.table(current).parent;
        }
        found.into_iter().collect()
    }

    /// `Symbols.find_ref`
    pub fn find_ref(&self, id: TableId, name: Symbol) -> Option<Ident> {
        self.up(id).find_map(|table| table.refs.get(&name).copied())
    }

    /// `Symbols.store`: a name is set.
    pub fn store(&mut self, id: TableId, name: Symbol) {
        self.table_mut(id).stores.insert(name);
        if self.bases(id).any(|table| table.refs.contains_key(&name)) {
            return;
        }
        let outer = self.table(id).parent.and_then(|parent| self.find_ref(parent, name));
        self.define(id, name, outer.map_or(Instruction::Undefined, Instruction::Alias));
    }

    /// `Symbols.declare_parameter`
    pub fn declare_parameter(&mut self, id: TableId, name: Symbol) -> Ident {
        self.table_mut(id).stores.insert(name);
        self.define(id, name, Instruction::Parameter)
    }

    /// `Symbols.load`: a name is read.
    pub fn load(&mut self, id: TableId, name: Symbol) {
        if self.find_ref(id, name).is_none() {
            self.define(id, name, Instruction::Resolve(name));
        }
    }

    /// `Symbols.branch_update`: what the branches of an `if` did.
    pub fn branch_update(&mut self, id: TableId, branches: &[TableId]) {
        let mut stores = BTreeSet::new();
        for branch in branches {
            stores.extend(self.table(*branch).stores.iter().copied());
        }
        stores.retain(|name| !self.bases(id).any(|table| table.stores.contains(name)));
        for branch in branches {
            let branch = std::mem::take(self.table_mut(*branch));
            let table = self.table_mut(id);
            table.refs.extend(branch.refs);
            table.loads.extend(branch.loads);
            table.stores.extend(branch.stores);
        }
        for name in stores {
            let Some(target) = self.find_ref(id, name) else { continue };
            let outer = self.table(id).parent.and_then(|parent| self.find_ref(parent, name));
            let load = outer.map_or(Instruction::Resolve(name), Instruction::Alias);
            self.table_mut(id).loads.insert(target, load);
        }
    }

    /// `Symbols._define_ref`
    fn define(&mut self, id: TableId, name: Symbol, load: Instruction) -> Ident {
        let folded = self.folded.get(&name).copied().unwrap_or(name);
        let table = self.table_mut(id);
        let ident = Ident {
            level: table.level,
            folded,
        };
        table.refs.insert(name, ident);
        table.loads.insert(ident, load);
        ident
    }

    /// A table, and those that it branched off.
    fn bases(&self, id: TableId) -> impl Iterator<Item = &Table> {
        let first = self.tables.get(id.0);
        std::iter::successors(first, |table| self.tables.get(table.base?.0))
    }

    /// A table, those that it branched off, and those of the scopes around.
    fn up(&self, id: TableId) -> impl Iterator<Item = &Table> {
        let first = self.tables.get(id.0);
        std::iter::successors(first, |table| self.tables.get(table.base.or(table.parent)?.0))
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "only `push` makes the number of a table, and none is taken away"
    )]
    fn table(&self, TableId(index): TableId) -> &Table {
        &self.tables[index]
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "only `push` makes the number of a table, and none is taken away"
    )]
    fn table_mut(&mut self, TableId(index): TableId) -> &mut Table {
        &mut self.tables[index]
    }
}

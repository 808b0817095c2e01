//! Where timers lie: in one piece of memory, linked by their places in it.

/// No timer.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Node<K> {
    /// `None` while it is free.
    key: Option<K>,
    level: u8,
    slot: u8,
    /// Raised with each key, so that an old name means nothing.
    generation: u32,
    next: u32,
    before: u32,
    tick: u64,
}

/// Timers by number; what is given back is used again.
#[derive(Debug, Clone)]
pub(super) struct Slab<K> {
    nodes: Vec<Node<K>>,
    /// The first free one; the others follow by `next`.
    free: u32,
}

impl<K> Default for Slab<K> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: NONE }
    }
}

/// All numbers but [`NONE`] that come from here are in range: it is this module that gives them.
impl<K> Slab<K> {
    fn node(&self, index: u32) -> Option<&Node<K>> {
        self.nodes.get(index as usize)
    }

    fn node_mut(&mut self, index: u32) -> Option<&mut Node<K>> {
        self.nodes.get_mut(index as usize)
    }

    /// A place for `key`.
    pub fn add(&mut self, key: K, tick: u64) -> u32 {
        let free = self.free;
        if let Some(node) = self.nodes.get_mut(free as usize) {
            self.free = node.next;
            node.generation = node.generation.wrapping_add(1);
            (node.key, node.tick) = (Some(key), tick);
            return free;
        }
        let node = Node {
            key: Some(key),
            level: 0,
            slot: 0,
            generation: 0,
            next: NONE,
            before: NONE,
            tick,
        };
        self.nodes.push(node);
        // Four thousand million timers do not fit into memory.
        u32::try_from(self.nodes.len() - 1).unwrap_or(NONE)
    }

    /// Frees a place that is no longer linked.
    pub fn remove(&mut self, index: u32) -> Option<K> {
        let free = self.free;
        let node = self.node_mut(index)?;
        let key = node.key.take();
        node.next = free;
        self.free = index;
        key
    }

    pub fn generation(&self, index: u32) -> u32 {
        self.node(index).map_or(0, |node| node.generation)
    }

    pub fn tick(&self, index: u32) -> u64 {
        self.node(index).map_or(0, |node| node.tick)
    }

    pub fn next(&self, index: u32) -> u32 {
        self.node(index).map_or(NONE, |node| node.next)
    }

    /// Level and slot of a timer that is set.
    pub fn place(&self, index: u32) -> Option<(usize, usize)> {
        let node = self.node(index).filter(|node| node.key.is_some())?;
        Some((node.level.into(), node.slot.into()))
    }

    /// Makes it the first of a slot.
    pub fn link(&mut self, index: u32, (level, slot): (usize, usize), first: &mut u32) {
        let after = std::mem::replace(first, index);
        if let Some(node) = self.node_mut(after) {
            node.before = index;
        }
        if let Some(node) = self.node_mut(index) {
            (node.next, node.before) = (after, NONE);
            // Both are below 64.
            (node.level, node.slot) = (level as u8, slot as u8);
        }
    }

    /// Takes it out of its slot.
    pub fn unlink(&mut self, index: u32, first: &mut u32) {
        let Some((next, before)) = self.node(index).map(|node| (node.next, node.before)) else {
            return;
        };
        match self.node_mut(before) {
            Some(node) => node.next = next,
            None => *first = next,
        }
        if let Some(node) = self.node_mut(next) {
            node.before = before;
        }
    }
}

//! A list whose elements know which of two comes first.

/// The distance between neighbours in a fresh list.
const GAP: u64 = 1 << 32;

/// The numbers below `n` as a linked list with ascending labels. To move an element gives it a label between
/// those of its neighbours; if there is none left, all labels are given anew.
pub(super) struct GroupOrder {
    label: Vec<u64>,
    /// The last entry is that of the list's end, which is its beginning too.
    next: Vec<usize>,
    previous: Vec<usize>,
}

impl GroupOrder {
    /// The numbers below `n` in their own order.
    pub fn new(n: usize) -> Self {
        Self {
            label: (0..=n as u64).map(|i| (i + 1) * GAP).collect(),
            next: (0..=n).map(|i| (i + 1) % (n + 1)).collect(),
            previous: (0..=n).map(|i| (i + n) % (n + 1)).collect(),
        }
    }

    pub fn is_before(&self, a: usize, b: usize) -> bool {
        self.label[a] < self.label[b]
    }

    pub fn sort(&self, elements: &mut [usize]) {
        elements.sort_unstable_by_key(|&e| self.label[e]);
    }

    pub fn remove(&mut self, element: usize) {
        let (before, after) = (self.previous[element], self.next[element]);
        self.next[before] = after;
        self.previous[after] = before;
    }

    /// Puts an element that was removed behind `place`.
    pub fn insert_after(&mut self, place: usize, element: usize) {
        let after = self.next[place];
        (self.next[place], self.previous[after]) = (element, element);
        (self.previous[element], self.next[element]) = (place, after);
        let end = self.end();
        // The end's label is the largest, and its place before the first element counts as 0.
        let low = if place == end { 0 } else { self.label[place] };
        let room = self.label[after] - low;
        match room {
            0 | 1 => self.label_anew(),
            _ => self.label[element] = low + room / 2,
        }
    }

    /// Puts an element that was removed before `place`.
    pub fn insert_before(&mut self, place: usize, element: usize) {
        self.insert_after(self.previous[place], element);
    }

    /// Puts an element that was removed in the place of another.
    pub fn replace(&mut self, old: usize, element: usize) {
        let (before, after) = (self.previous[old], self.next[old]);
        (self.next[before], self.previous[after]) = (element, element);
        (self.previous[element], self.next[element]) = (before, after);
        self.label[element] = self.label[old];
    }

    fn end(&self) -> usize {
        self.next.len() - 1
    }

    fn label_anew(&mut self) {
        let end = self.end();
        let (mut at, mut label) = (self.next[end], GAP);
        loop {
            self.label[at] = label;
            if at == end {
                return;
            }
            (at, label) = (self.next[at], label + GAP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(order: &GroupOrder) -> Vec<usize> {
        let end = order.end();
        let next = |&at: &usize| Some(order.next[at]).filter(|&at| at != end);
        std::iter::successors(next(&end), next).collect()
    }

    #[test]
    fn elements_move_and_keep_ascending_labels() {
        let mut order = GroupOrder::new(6);
        // Many more moves than labels fit between two neighbours.
        for i in 0..500 {
            let element = 1 + i % 2;
            order.remove(element);
            match i % 3 {
                0 => order.insert_after(4, element),
                1 => order.insert_before(5, element),
                _ => order.insert_before(0, element),
            }
            let listed = listed(&order);
            assert_eq!(listed.len(), 6);
            assert!(listed.is_sorted_by_key(|&e| order.label[e]), "{listed:?}");
        }
        order.remove(3);
        order.remove(0);
        order.replace(5, 0);
        assert!(order.is_before(4, 0));
        assert_eq!(listed(&order).len(), 4);
    }
}

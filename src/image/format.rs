//! (table follows)

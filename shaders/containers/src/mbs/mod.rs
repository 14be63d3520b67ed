//! Mali-200/300/400/450 shader binary (MBS).

//! Apple Metal library (metallib, magic `MTLB`).

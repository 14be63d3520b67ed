//! The file format, version 1.
//!
//! The file begins with the eight bytes [`MAGIC`]. Records follow until the end of the file: four bytes of tag, the
//! payload's size in bytes, the payload, and the low half of the payload's [`super::pages::Hash`]. All numbers are little-endian.
//! Strings and byte lists carry their size in front, both as `u32`.
//!
//! | tag | payload |
//! | --- | --- |
//! | `HEAD` | version, validator mode (0 faithful, 1 strict), bytes of bus memory, recorder's version, program, process id |
//! | `PAGE` | number of pages, then each as its encoded size (`u16`) and [`super::pages::encode`]d words; pages are numbered from 1 in the order of the file, page 0 is all zero |
//! | `JOB ` | number of the submission, the submission, its BOs, keys that are dropped, changed pages |
//! | `NAME` | list of keys, each with the name that the program has given its BO; it stands before the `JOB ` that uses the BO |
//! | `DONE` | number of the submission, seqno, nanoseconds, instances, instructions, lookups, 1 and a text if it hung (else 0), and, if it did not hang, of each BO that it may have written key and hash |
//! | `FAIL` | as `JOB `, then errno and text: a submission that was refused |
//!
//! A BO has a *key* as long as it lives; a key's pages are zero at first and change only by `JOB ` records and by the jobs
//! themselves, so that results of one job that the next one reads take no space. `JOB ` stands before its pages are used
//! and `DONE` after the job; a file that ends between both is one whose process ended there.

/// First bytes of a capture.
pub const MAGIC: [u8; 8] = *b"VC4CAPT\n";
/// Version of the format.
pub const VERSION: u32 = 1;
/// Environment variable that names the file that a simulator records to. A file that exists is left alone: the next
/// free of `FILE`, `FILE.1`, … is taken, and none is made before the first submission.
pub const VARIABLE: &str = "VC4SIM_CAPTURE";

/// Tags of records.
pub(super) mod tag {
    pub const HEAD: [u8; 4] = *b"HEAD";
    pub const PAGE: [u8; 4] = *b"PAGE";
    pub const JOB: [u8; 4] = *b"JOB ";
    pub const NAME: [u8; 4] = *b"NAME";
    pub const DONE: [u8; 4] = *b"DONE";
    pub const FAIL: [u8; 4] = *b"FAIL";
}

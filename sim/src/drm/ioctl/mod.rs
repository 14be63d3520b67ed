//! What processes ask of open files, by number: `table.rs` finds the handler, and the handlers stand by subject, in the
//! order of the kernel's manual. The request code and waiting are below them.

mod dumb;
mod gem;
mod hang;
mod job;
mod kms;
mod label;
mod perfmon;
mod prime;
mod request;
mod sync_file;
mod syncobj;
mod table;
mod version;
mod wait;

pub use table::call_number;

//! Nintendo 3DS shader binary: DVLB, DVLP and DVLE.

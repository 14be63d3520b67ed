# Vertex program, patched mode: a position of two components and a colour of four.
#
# The driver sets the VPM up, converts attributes from whatever format the pipeline says, and makes
# screen coordinates of the clip coordinates that are written first.

# Clip coordinates x, y, 0, 1. A word may be read and another written in one instruction.
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;

# Four varyings: red, green, blue, alpha.
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r2 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r3 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r3, r3) ; nop = nop(r0, r0) ;

sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

# Coordinate program, patched mode: the position alone, by the same operations as in the vertex program.
# The machine runs it to find the tiles of each triangle.

sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;

sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

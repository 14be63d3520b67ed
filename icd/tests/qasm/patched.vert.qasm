# Position (3 components) and colour (4 components), straight through. w is 1. Serves as coordinate program, too.

sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r2 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;

sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;

sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

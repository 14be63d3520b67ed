# Position (4 components) and texture coordinates (2 components), straight through.

sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r2 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r3 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r3, r3) ; nop = nop(r0, r0) ;
sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; r1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r1, r1) ; nop = nop(r0, r0) ;
sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

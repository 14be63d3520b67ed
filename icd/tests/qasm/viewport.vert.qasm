# Position (3 floats) and colour (4 floats) for a raster that is the viewport itself: half its size in sixteenths is
# in push constants. w is 1, depth goes from 0 to 1.

sig_load_imm ; vr_setup = load32.always(0x00701a00) ; nop = load32() ;
.uniform push[0]
sig_none ; nop = nop(r0, r0, vpm_read, uni) ; r0 = fmul.always(a, b) ;
.uniform push[4]
sig_none ; rx0.16a = ftoi.always(r0, r0, vpm_read, uni) ; r1 = fmul.always(a, b) ;
sig_none ; r2 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; rx0.16b = ftoi.always(r1, r1) ; nop = nop(r0, r0) ;
sig_load_imm ; vw_setup = load32.always.ws(0x00001a00) ; nop = load32() ;
sig_none ; vpm = or.always(a, a, ra0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;
sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

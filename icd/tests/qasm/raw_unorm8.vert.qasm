# Position (3 floats) and colour (4 bytes, fractions of 255), straight through. w is 1.

# 4 vectors of 32 bits from row 0.
sig_load_imm ; vr_setup = load32.always(0x00401a00) ; nop = load32() ;

.uniform viewport.x.scale
sig_none ; nop = nop(r0, r0, vpm_read, uni) ; r0 = fmul.always(a, b) ;
.uniform viewport.x.bias
sig_none ; r0 = fadd.always(r0, a, uni) ; nop = nop(r0, r0) ;
.uniform viewport.y.scale
sig_none ; nop = nop(r0, r0, vpm_read, uni) ; r1 = fmul.always(a, b) ;
.uniform viewport.y.bias
sig_none ; r1 = fadd.always(r1, a, uni) ; nop = nop(r0, r0) ;
.uniform depth.scale
sig_none ; nop = nop(r0, r0, vpm_read, uni) ; r2 = fmul.always(a, b) ;
.uniform depth.bias
sig_none ; r2 = fadd.always(r2, a, uni) ; nop = nop(r0, r0) ;

# Sixteenths of a pixel; 65536.5 rounds halves up.
.uniform raster.scale
sig_none ; r3 = or.always(a, a, uni) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; r0 = fmul.always(r0, r3) ;
sig_none ; nop = nop(r0, r0) ; r1 = fmul.always(r1, r3) ;
sig_load_imm ; r3 = load32.always(0x47800040) ; nop = load32() ;
sig_none ; r0 = fadd.always(r0, r3) ; nop = nop(r0, r0) ;
sig_none ; r1 = fadd.always(r1, r3) ; nop = nop(r0, r0) ;
sig_none ; rx0.16a = ftoi.always(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; rx0.16b = ftoi.always(r1, r1) ; nop = nop(r0, r0) ;

sig_none ; rx1 = or.always(a, a, vpm_read) ; nop = nop(r0, r0) ;

sig_load_imm ; vw_setup = load32.always.ws(0x00001a00) ; nop = load32() ;
sig_none ; vpm = or.always(a, a, ra0) ; nop = nop(r0, r0) ;
sig_none ; vpm = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop(r0, r0) ;
# Unpacking to float is the move of a file-A word by a float operation.
sig_none ; vpm = fmax.always.8a(a, a, ra1) ; nop = nop(r0, r0) ;
sig_none ; vpm = fmax.always.8b(a, a, ra1) ; nop = nop(r0, r0) ;
sig_none ; vpm = fmax.always.8c(a, a, ra1) ; nop = nop(r0, r0) ;
sig_none ; vpm = fmax.always.8d(a, a, ra1) ; nop = nop(r0, r0) ;

sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

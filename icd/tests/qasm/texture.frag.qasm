# Two varyings are texture coordinates; the texel is the colour.
sig_none ; nop = nop(r0, r0, pay_zw, vary) ; r0 = fmul.always(a, b) ;
sig_none ; r0 = fadd.always(r0, r5, pay_zw, vary) ; r1 = fmul.always(a, b) ;
sig_none ; r1 = fadd.always(r1, r5) ; nop = nop(r0, r0) ;
.uniform tex.p0[0][0]
sig_none ; tmu0_t = or.always(r1, r1) ; nop = nop(r0, r0) ;
.uniform tex.p1[0][0]
sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop(r0, r0) ;
sig_load_tmu0 ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; tlb_color_all = or.always(r4, r4) ; nop = nop(r0, r0) ;
sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

# Four varyings are the colour, written as for a BGRA target.
sig_none ; nop = nop(r0, r0, pay_zw, vary) ; r0 = fmul.always(a, b) ;
sig_none ; r0 = fadd.always(r0, r5, pay_zw, vary) ; r1 = fmul.always(a, b) ;
sig_none ; r1 = fadd.always(r1, r5, pay_zw, vary) ; r2 = fmul.always(a, b) ;
sig_none ; r2 = fadd.always(r2, r5, pay_zw, vary) ; r3 = fmul.always(a, b) ;
sig_none ; r3 = fadd.always(r3, r5) ; nop = nop(r0, r0) ;

# Times one, as bytes: blue lowest.
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r2.8888 = fmul.always(r2, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r2.8b = fmul.always(r1, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r2.8c = fmul.always(r0, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r2.8d = fmul.always(r3, b) ;

sig_none ; tlb_color_all = or.always(r2, r2) ; nop = nop(r0, r0) ;
sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_unlock_score ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

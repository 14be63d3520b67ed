# Fragment program, patched mode: an interpolated colour whose alpha is scaled by a push constant.
# It writes the source colour; the driver reads the tile, blends, and releases the scoreboard.

# A varying is (what `vary` gives) * W + r5; W is in ra15.
sig_none ; nop = nop(r0, r0, pay_zw, vary) ; r0 = fmul.always(a, b) ;
sig_none ; r0 = fadd.always(r0, r5, pay_zw, vary) ; r1 = fmul.always(a, b) ;
sig_none ; r1 = fadd.always(r1, r5, pay_zw, vary) ; r2 = fmul.always(a, b) ;
sig_none ; r2 = fadd.always(r2, r5, pay_zw, vary) ; r3 = fmul.always(a, b) ;
sig_none ; r3 = fadd.always(r3, r5) ; nop = nop(r0, r0) ;

.uniform push[0]            # opacity
sig_none ; nop = nop(r0, r0, uni) ; r3 = fmul.always(r3, a) ;

# Four floats as bytes of one word, red lowest: `pm` packs what the mul unit gives.
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r0.8888 = fmul.always(r0, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r0.8b = fmul.always(r1, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r0.8c = fmul.always(r2, b) ;
sig_small_imm ; nop = nop.pm(r0, r0, nop, 0x3f800000) ; r0.8d = fmul.always(r3, b) ;

sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;

sig_end ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;
sig_none ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;

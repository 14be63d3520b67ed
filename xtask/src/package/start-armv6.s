@ What a program begins with, for ARMv6. Debian's own start files hold ARMv7 instructions, which a Pi 1 or Zero cannot run.
@ Linked into libraries, too, which take the handle only.

        .arch   armv6
        .eabi_attribute Tag_ABI_VFP_args, 1     @ floats in VFP registers, as in all that it is linked with
        .arm
        .text
        .globl  _start
        .weak   main
        .type   _start, %function
_start: mov     fp, #0                  @ the outermost frame
        mov     lr, #0
        ldr     r1, [sp], #4            @ argc
        mov     r2, sp                  @ argv
        str     r2, [sp, #-4]!          @ stack_end
        str     r0, [sp, #-4]!          @ rtld_fini
        mov     ip, #0
        str     ip, [sp, #-4]!          @ fini: the C library runs the arrays itself
        mov     r3, #0                  @ init: likewise
        ldr     ip, offset
here:   add     ip, pc, ip
        ldr     r0, slot
        ldr     r0, [ip, r0]            @ main
        bl      __libc_start_main(PLT)
        bl      abort(PLT)
        .balign 4
offset: .word   _GLOBAL_OFFSET_TABLE_ - (here + 8)
slot:   .word   main(GOT)
        .size   _start, . - _start

@ Where a thread's own variables lie. Debian's static part of the C library has it for ARMv7.
        .balign 4
        .globl  __aeabi_read_tp
        .hidden __aeabi_read_tp
        .type   __aeabi_read_tp, %function
__aeabi_read_tp:
        mrc     p15, 0, r0, c13, c0, 3
        bx      lr
        .size   __aeabi_read_tp, . - __aeabi_read_tp

@ Destructors of threads name the library they belong to by the address of this.
        .section .data.rel.local, "aw", %progbits
        .balign 4
        .globl  __dso_handle
        .hidden __dso_handle
        .type   __dso_handle, %object
__dso_handle:
        .word   __dso_handle
        .size   __dso_handle, 4
        .section .note.GNU-stack, "", %progbits

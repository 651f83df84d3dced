#include "textflag.h"

// the number of set bits of each half byte
DATA bitcounts<>+0(SB)/8, $0x0302020102010100
DATA bitcounts<>+8(SB)/8, $0x0403030203020201
DATA bitcounts<>+16(SB)/8, $0x0302020102010100
DATA bitcounts<>+24(SB)/8, $0x0403030203020201
GLOBL bitcounts<>(SB), RODATA|NOPTR, $32

DATA lowhalves<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowhalves<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowhalves<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowhalves<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowhalves<>(SB), RODATA|NOPTR, $32

// adds the bits of one plane, whose halves are lo and hi, to the bytes of Y4
#define PLANE(lo, hi) \
	VPAND lo, Y0, Y2 \
	VPAND hi, Y1, Y3 \
	VPSHUFB Y2, Y15, Y2 \
	VPSHUFB Y3, Y15, Y3 \
	VPADDB Y2, Y4, Y4 \
	VPADDB Y3, Y4, Y4

// func levelsAVX2(codes, nibbles *uint64, n int, sums *uint64)
// n is at least 1. Each byte of Y4 is at most 8 * 15, so no sum overflows before VPSADBW adds the bytes.
TEXT ·levelsAVX2(SB), NOSPLIT, $0-32
	MOVQ codes+0(FP), SI
	MOVQ nibbles+8(FP), DX
	MOVQ n+16(FP), CX
	MOVQ sums+24(FP), DI
	VMOVDQU bitcounts<>(SB), Y15
	VMOVDQU lowhalves<>(SB), Y14
	VPXOR Y13, Y13, Y13
	VMOVDQU (DX), Y5
	VMOVDQU 32(DX), Y6
	VMOVDQU 64(DX), Y7
	VMOVDQU 96(DX), Y8
	VMOVDQU 128(DX), Y9
	VMOVDQU 160(DX), Y10
	VMOVDQU 192(DX), Y11
	VMOVDQU 224(DX), Y12
levelsloop:
	VMOVDQU (SI), Y0
	VPSRLW $4, Y0, Y1
	VPAND Y14, Y0, Y0
	VPAND Y14, Y1, Y1
	VPXOR Y4, Y4, Y4
	PLANE(Y5, Y6)
	VPADDB Y4, Y4, Y4
	PLANE(Y7, Y8)
	VPADDB Y4, Y4, Y4
	PLANE(Y9, Y10)
	VPADDB Y4, Y4, Y4
	PLANE(Y11, Y12)
	VPSHUFB Y0, Y15, Y0
	VPSHUFB Y1, Y15, Y1
	VPADDB Y1, Y0, Y0
	VPSADBW Y13, Y4, Y4
	VPSADBW Y13, Y0, Y0
	VPSLLQ $32, Y4, Y4
	VPADDQ Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPADDQ X1, X0, X0
	VMOVQ X0, (DI)
	ADDQ $32, SI
	ADDQ $8, DI
	DECQ CX
	JNZ levelsloop
	VZEROUPPER
	RET

/*
 * QPU assembly in shader modules of the vulkan-vc4 driver.
 *
 * Chain a VkShaderModuleAssemblyCreateInfoVC4 to VkShaderModuleCreateInfo::pNext; pCode and codeSize are then
 * ignored (codeSize may be 0). The module can be used for the stages that it holds programs for.
 * icd/ASSEMBLY.md explains conventions, the names of uniforms in text, and has a worked example.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef VULKAN_VC4_H_
#define VULKAN_VC4_H_ 1

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Structure types. Registered extensions number their structures from 1000000000 up, a thousand for each; these
 * are the letters "VC4" and a number, beyond what the registry can reach.
 */
#define VK_STRUCTURE_TYPE_SHADER_MODULE_ASSEMBLY_CREATE_INFO_VC4 ((VkStructureType)0x56433401)

/* Value of VkShaderModuleAssemblyCreateInfoVC4::version for the structures of this file. */
#define VK_ASSEMBLY_VERSION_VC4 1u

/* A count that the driver is to find out from the programs. */
#define VK_ASSEMBLY_AUTO_VC4 0xffffffffu

/*
 * What a program is run for. A vertex program needs a coordinate program beside it; in patched mode its own text serves
 * when there is none.
 */
typedef enum VkAssemblyStageVC4 {
    VK_ASSEMBLY_STAGE_COORDINATE_VC4 = 0,
    VK_ASSEMBLY_STAGE_VERTEX_VC4 = 1,
    VK_ASSEMBLY_STAGE_FRAGMENT_VC4 = 2,
    VK_ASSEMBLY_STAGE_MAX_ENUM_VC4 = 0x7fffffff
} VkAssemblyStageVC4;

/* Who turns pipeline state into code. */
typedef enum VkAssemblyModeVC4 {
    /* The driver puts vertex fetch, viewport, depth, stencil and blending around the programs. */
    VK_ASSEMBLY_MODE_PATCHED_VC4 = 0,
    /* The programs run as they are. */
    VK_ASSEMBLY_MODE_RAW_VC4 = 1,
    VK_ASSEMBLY_MODE_MAX_ENUM_VC4 = 0x7fffffff
} VkAssemblyModeVC4;

/* VkShaderModuleAssemblyCreateInfoVC4::flags */
typedef enum VkAssemblyFlagBitsVC4 {
    /*
     * Raw vertex programs only: clipper and raster follow the VkViewport. Xs and Ys count from its middle, Xc and
     * Yc are clipped at Wc. Without this bit the raster is the driver's own, see the viewport uniforms.
     */
    VK_ASSEMBLY_VIEWPORT_RASTER_BIT_VC4 = 0x1,
    VK_ASSEMBLY_FLAG_BITS_MAX_ENUM_VC4 = 0x7fffffff
} VkAssemblyFlagBitsVC4;

/* VkAssemblyProgramVC4::flags */
typedef enum VkAssemblyProgramFlagBitsVC4 {
    /* Vertex and coordinate programs: behind the attributes stands a word with the index of the vertex. */
    VK_ASSEMBLY_PROGRAM_VERTEX_INDEX_BIT_VC4 = 0x1,
    /* Patched fragment programs: the colour that is written has blue in bits 7:0 and red in bits 23:16. */
    VK_ASSEMBLY_PROGRAM_BGRA_COLOR_BIT_VC4 = 0x2,
    /*
     * Patched fragment programs: where the colour is written, r0 to r3 hold red, green, blue and alpha as floats
     * (integers for integer targets); the word that is written does not count.
     */
    VK_ASSEMBLY_PROGRAM_FLOAT_COLOR_BIT_VC4 = 0x4,
    VK_ASSEMBLY_PROGRAM_FLAG_BITS_MAX_ENUM_VC4 = 0x7fffffff
} VkAssemblyProgramFlagBitsVC4;

/* What a word of a uniform stream is. In brackets: members of VkAssemblyUniformVC4 that count, and the name in text. */
typedef enum VkAssemblyUniformSourceVC4 {
    /* [value; const[WORD]] The word `value`. */
    VK_ASSEMBLY_UNIFORM_CONSTANT_VC4 = 0,
    /* [value; spec[ID]] The specialization constant with the id `value`. */
    VK_ASSEMBLY_UNIFORM_SPECIALIZATION_VC4 = 1,
    /* [value; push[BYTE]] The push constant word at byte `value`. */
    VK_ASSEMBLY_UNIFORM_PUSH_VC4 = 2,
    /* [set, binding, element, value; ubo[SET][BINDING][BYTE]] The word at byte `value` of a uniform buffer. */
    VK_ASSEMBLY_UNIFORM_UBO_VC4 = 3,
    /* [set, binding, element; ubo.base[SET][BINDING]] The buffer's address, last operand of a direct lookup. */
    VK_ASSEMBLY_UNIFORM_UBO_BASE_VC4 = 4,
    /* [set, binding, element; ubo.limit[SET][BINDING]] The largest offset of a direct lookup, operand of its min. */
    VK_ASSEMBLY_UNIFORM_UBO_LIMIT_VC4 = 5,
    /* [set, binding, element; tex.p0[SET][BINDING]] Texture parameter 0 of a combined image sampler. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_P0_VC4 = 6,
    /* [set, binding, element; tex.p1[SET][BINDING]] Texture parameter 1. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_P1_VC4 = 7,
    /* [set, binding, element; tex.p2[SET][BINDING]] Texture parameter 2; register b is a bias. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_P2_VC4 = 8,
    /* [set, binding, element; tex.p2.lod[SET][BINDING]] Texture parameter 2; register b is the level of detail. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_P2_LOD_VC4 = 9,
    /* [set, binding, element; tex.p3[SET][BINDING]] Texture parameter 3. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_P3_VC4 = 10,
    /* [set, binding, element; tex.width[SET][BINDING]] Texels of the first level in a row, a float. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_WIDTH_VC4 = 11,
    /* [set, binding, element; tex.height[SET][BINDING]] Rows of the first level, a float. */
    VK_ASSEMBLY_UNIFORM_TEXTURE_HEIGHT_VC4 = 12,
    /* [viewport.x.scale] Xc of the raster = Xc * this + Wc * viewport.x.bias. */
    VK_ASSEMBLY_UNIFORM_VIEWPORT_X_SCALE_VC4 = 13,
    /* [viewport.x.bias] */
    VK_ASSEMBLY_UNIFORM_VIEWPORT_X_BIAS_VC4 = 14,
    /* [viewport.y.scale] As for x. */
    VK_ASSEMBLY_UNIFORM_VIEWPORT_Y_SCALE_VC4 = 15,
    /* [viewport.y.bias] */
    VK_ASSEMBLY_UNIFORM_VIEWPORT_Y_BIAS_VC4 = 16,
    /* [raster.scale] Xs in sixteenths of a pixel = Xc of the raster / Wc * this; the same for Ys. */
    VK_ASSEMBLY_UNIFORM_RASTER_SCALE_VC4 = 17,
    /* [depth.scale] Zs = Zc / Wc * this + depth.bias. */
    VK_ASSEMBLY_UNIFORM_DEPTH_SCALE_VC4 = 18,
    /* [depth.bias] */
    VK_ASSEMBLY_UNIFORM_DEPTH_BIAS_VC4 = 19,
    /* [blend.r] Blend constants, floats from 0 to 1. */
    VK_ASSEMBLY_UNIFORM_BLEND_R_VC4 = 20,
    /* [blend.g] */
    VK_ASSEMBLY_UNIFORM_BLEND_G_VC4 = 21,
    /* [blend.b] */
    VK_ASSEMBLY_UNIFORM_BLEND_B_VC4 = 22,
    /* [blend.a] */
    VK_ASSEMBLY_UNIFORM_BLEND_A_VC4 = 23,
    /* [stencil.front] Stencil set-up word of front faces; 0 without a stencil test. */
    VK_ASSEMBLY_UNIFORM_STENCIL_FRONT_VC4 = 24,
    /* [stencil.back] Stencil set-up word of back faces. */
    VK_ASSEMBLY_UNIFORM_STENCIL_BACK_VC4 = 25,
    /* [stencil.masks] Stencil set-up word with both write masks; write it after the others. */
    VK_ASSEMBLY_UNIFORM_STENCIL_MASKS_VC4 = 26,
    /* [sample.mask] The sample mask, bits 3:0. */
    VK_ASSEMBLY_UNIFORM_SAMPLE_MASK_VC4 = 27,
    /* [vertex.bias] Add it to the word of VK_ASSEMBLY_PROGRAM_VERTEX_INDEX_BIT_VC4 to get gl_VertexIndex. */
    VK_ASSEMBLY_UNIFORM_VERTEX_BIAS_VC4 = 28,
    /* [instance.index] gl_InstanceIndex. */
    VK_ASSEMBLY_UNIFORM_INSTANCE_INDEX_VC4 = 29,
    /* [value, element; instance.attribute[LOCATION][WORD]] Word `element` of the attribute at location `value`. */
    VK_ASSEMBLY_UNIFORM_INSTANCE_ATTRIBUTE_VC4 = 30,
    /* [stream] The stream's own address, for a write to unif_addr. */
    VK_ASSEMBLY_UNIFORM_STREAM_VC4 = 31,
    VK_ASSEMBLY_UNIFORM_SOURCE_MAX_ENUM_VC4 = 0x7fffffff
} VkAssemblyUniformSourceVC4;

/* One word of a uniform stream. */
typedef struct VkAssemblyUniformVC4 {
    VkAssemblyUniformSourceVC4 source;
    uint32_t set;
    uint32_t binding;
    uint32_t element;
    uint32_t value;
} VkAssemblyUniformVC4;

/* A scalar that a fragment program reads, as the SPIR-V of the vertex stage names it. */
typedef struct VkAssemblyVaryingVC4 {
    uint32_t location;
    uint32_t component;
} VkAssemblyVaryingVC4;

/* An attribute that a vertex or coordinate program reads. */
typedef struct VkAssemblyInputVC4 {
    uint32_t location;
    /* Patched programs read so many components, 1 to 4; 0 stands for those that the format has. */
    uint32_t components;
} VkAssemblyInputVC4;

/* One program: text or words. */
typedef struct VkAssemblyProgramVC4 {
    VkAssemblyStageVC4 stage;
    /* Of VkAssemblyProgramFlagBitsVC4. */
    VkFlags flags;
    /*
     * Vertex and coordinate programs: the attributes that are loaded, by increasing location, each from a row of its own
     * on. 0 and NULL stand for all that the pipeline has.
     */
    uint32_t inputCount;
    const VkAssemblyInputVC4 *pInputs;
    /* Words of the uniform stream in the order in which the program takes them. */
    uint32_t uniformCount;
    /* May be NULL when `pText` names them in .uniform annotations, or when there are none. */
    const VkAssemblyUniformVC4 *pUniforms;
    /* Text; NULL when there are words. */
    const char *pText;
    /* Bytes of text; 0 when it ends with a zero byte. */
    size_t textSize;
    /* Instructions; NULL when there is text. */
    const uint64_t *pWords;
    size_t wordCount;
} VkAssemblyProgramVC4;

/* VkShaderModuleCreateInfo::pNext */
typedef struct VkShaderModuleAssemblyCreateInfoVC4 {
    /* VK_STRUCTURE_TYPE_SHADER_MODULE_ASSEMBLY_CREATE_INFO_VC4 */
    VkStructureType sType;
    const void *pNext;
    /* VK_ASSEMBLY_VERSION_VC4 */
    uint32_t version;
    /* Of VkAssemblyFlagBitsVC4. */
    VkFlags flags;
    VkAssemblyModeVC4 mode;
    /* 1 to 3 programs, at most one for each stage. */
    uint32_t programCount;
    const VkAssemblyProgramVC4 *pPrograms;
    /* Scalar varyings of the fragment program without those that points and lines put in front, or
       VK_ASSEMBLY_AUTO_VC4: as many as it reads. */
    uint32_t varyingCount;
    /* Bit n: varying n is flat. */
    uint32_t flatVaryings;
    /*
     * NULL or `varyingCount` elements, for a fragment program whose vertex stage is SPIR-V: what it reads. NULL stands
     * for component n % 4 of location n / 4 as varying n.
     */
    const VkAssemblyVaryingVC4 *pVaryings;
} VkShaderModuleAssemblyCreateInfoVC4;

#ifdef __cplusplus
}
#endif

#endif /* VULKAN_VC4_H_ */

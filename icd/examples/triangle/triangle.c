/*
 * Three translucent triangles whose shaders are QPU assembly, blended by pipeline state.
 *
 *     cc -std=c99 -I icd/include icd/examples/triangle/triangle.c -lvulkan -o triangle
 *     ./triangle icd/examples/triangle out.ppm
 *
 * The first argument is the directory of the .qasm files, the second the picture to write. VK_DRIVER_FILES tells the
 * loader which driver to take; this program asks for the first device of the first driver.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan_vc4.h"

#define SIZE 256
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static void check(VkResult result, const char *what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s: VkResult %d\n", what, (int)result);
        exit(1);
    }
}

/* A text file with a zero byte behind it. */
static char *load(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 65536);
    if (!file || !text || fread(text, 1, 65535, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

/* One module with all three programs. */
static VkShaderModule assembly_module(VkDevice device, const char *directory)
{
    /* The coordinate program reads the position alone. */
    const VkAssemblyInputVC4 position = { .location = 0 };
    const VkAssemblyProgramVC4 programs[] = {
        { .stage = VK_ASSEMBLY_STAGE_COORDINATE_VC4, .inputCount = 1, .pInputs = &position,
          .pText = load(directory, "coordinate.qasm") },
        { .stage = VK_ASSEMBLY_STAGE_VERTEX_VC4, .pText = load(directory, "vertex.qasm") },
        { .stage = VK_ASSEMBLY_STAGE_FRAGMENT_VC4, .pText = load(directory, "fragment.qasm") },
    };
    const VkShaderModuleAssemblyCreateInfoVC4 assembly = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_ASSEMBLY_CREATE_INFO_VC4,
        .version = VK_ASSEMBLY_VERSION_VC4,
        .mode = VK_ASSEMBLY_MODE_PATCHED_VC4,
        .programCount = COUNT(programs),
        .pPrograms = programs,
        .varyingCount = VK_ASSEMBLY_AUTO_VC4,
    };
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .pNext = &assembly,
    };
    VkShaderModule module;
    check(vkCreateShaderModule(device, &info, NULL, &module), "vkCreateShaderModule");
    for (uint32_t n = 0; n < COUNT(programs); n++)
        free((char *)programs[n].pText);
    return module;
}

typedef struct Vertex {
    float x, y;
    uint8_t rgba[4];
} Vertex;

static const Vertex VERTICES[] = {
    { -0.10f, -0.85f, { 255, 40, 30, 255 } }, { 0.55f, 0.35f, { 255, 150, 30, 255 } }, { -0.75f, 0.35f, { 255, 40, 120, 255 } },
    { 0.35f, -0.60f, { 40, 220, 60, 255 } },  { 0.90f, 0.70f, { 30, 255, 170, 255 } }, { -0.35f, 0.60f, { 150, 255, 40, 255 } },
    { -0.45f, -0.55f, { 40, 80, 255, 255 } }, { 0.30f, 0.85f, { 60, 190, 255, 80 } },  { -0.90f, 0.75f, { 140, 60, 255, 255 } },
};

static VkPipeline pipeline(VkDevice device, VkShaderModule module, VkPipelineLayout layout, VkRenderPass pass)
{
    const VkPipelineShaderStageCreateInfo stages[] = {
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_VERTEX_BIT,
          .module = module, .pName = "main" },
        { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
          .module = module, .pName = "main" },
    };
    const VkVertexInputBindingDescription binding = { 0, sizeof(Vertex), VK_VERTEX_INPUT_RATE_VERTEX };
    const VkVertexInputAttributeDescription attributes[] = {
        { 0, 0, VK_FORMAT_R32G32_SFLOAT, 0 },
        { 1, 0, VK_FORMAT_R8G8B8A8_UNORM, 8 },
    };
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = COUNT(attributes),
        .pVertexAttributeDescriptions = attributes,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkViewport viewport = { 0, 0, SIZE, SIZE, 0, 1 };
    const VkRect2D scissor = { { 0, 0 }, { SIZE, SIZE } };
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    /* The machine cannot blend: in patched mode this becomes part of the fragment program. */
    const VkPipelineColorBlendAttachmentState attachment = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorBlendOp = VK_BLEND_OP_ADD,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .alphaBlendOp = VK_BLEND_OP_ADD,
        .colorWriteMask = 15,
    };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = COUNT(stages),
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pColorBlendState = &blend,
        .layout = layout,
        .renderPass = pass,
    };
    VkPipeline made;
    check(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &made), "vkCreateGraphicsPipelines");
    return made;
}

static VkRenderPass render_pass(VkDevice device)
{
    const VkAttachmentDescription color = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
    };
    const VkAttachmentReference reference = { 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL };
    const VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    const VkSubpassDependency done = {
        .srcSubpass = 0,
        .dstSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &color,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &done,
    };
    VkRenderPass pass;
    check(vkCreateRenderPass(device, &info, NULL, &pass), "vkCreateRenderPass");
    return pass;
}

static VkPhysicalDevice physical;

static VkDeviceMemory memory(VkDevice device, VkMemoryRequirements needs, VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    for (uint32_t n = 0; n < types.memoryTypeCount; n++) {
        if (!(needs.memoryTypeBits >> n & 1) || (types.memoryTypes[n].propertyFlags & flags) != flags)
            continue;
        const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                            .allocationSize = needs.size, .memoryTypeIndex = n };
        VkDeviceMemory made;
        check(vkAllocateMemory(device, &info, NULL, &made), "vkAllocateMemory");
        return made;
    }
    fprintf(stderr, "no memory type fits\n");
    exit(1);
}

/* A mapped buffer. */
static VkBuffer buffer(VkDevice device, VkDeviceSize size, VkBufferUsageFlags usage, void **mapped)
{
    const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage };
    VkBuffer made;
    VkMemoryRequirements needs;
    check(vkCreateBuffer(device, &info, NULL, &made), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(device, made, &needs);
    VkDeviceMemory where =
        memory(device, needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkBindBufferMemory(device, made, where, 0), "vkBindBufferMemory");
    check(vkMapMemory(device, where, 0, VK_WHOLE_SIZE, 0, mapped), "vkMapMemory");
    return made;
}

static VkImage target(VkDevice device, VkRenderPass pass, VkFramebuffer *framebuffer)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = { SIZE, SIZE, 1 },
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
    };
    VkImage image;
    VkMemoryRequirements needs;
    check(vkCreateImage(device, &info, NULL, &image), "vkCreateImage");
    vkGetImageMemoryRequirements(device, image, &needs);
    check(vkBindImageMemory(device, image, memory(device, needs, 0), 0), "vkBindImageMemory");
    const VkImageViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
    };
    VkImageView view;
    check(vkCreateImageView(device, &view_info, NULL, &view), "vkCreateImageView");
    const VkFramebufferCreateInfo framebuffer_info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = 1,
        .pAttachments = &view,
        .width = SIZE,
        .height = SIZE,
        .layers = 1,
    };
    check(vkCreateFramebuffer(device, &framebuffer_info, NULL, framebuffer), "vkCreateFramebuffer");
    return image;
}

static void save(const char *path, const uint8_t *rgba)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "cannot write %s\n", path);
        exit(1);
    }
    fprintf(file, "P6\n%d %d\n255\n", SIZE, SIZE);
    for (int n = 0; n < SIZE * SIZE; n++)
        fwrite(rgba + 4 * n, 1, 3, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s DIRECTORY PICTURE.ppm\n", argv[0]);
        return 2;
    }
    const VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO };
    VkInstance instance;
    check(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    check(found == VK_INCOMPLETE ? VK_SUCCESS : found, "vkEnumeratePhysicalDevices");
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                 .queueCount = 1, .pQueuePriorities = &priority };
    const VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                             .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue_info };
    VkDevice device;
    check(vkCreateDevice(physical, &device_info, NULL, &device), "vkCreateDevice");
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);

    VkRenderPass pass = render_pass(device);
    VkFramebuffer framebuffer;
    VkImage image = target(device, pass, &framebuffer);
    const VkPushConstantRange range = { VK_SHADER_STAGE_FRAGMENT_BIT, 0, 4 };
    const VkPipelineLayoutCreateInfo layout_info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                     .pushConstantRangeCount = 1, .pPushConstantRanges = &range };
    VkPipelineLayout layout;
    check(vkCreatePipelineLayout(device, &layout_info, NULL, &layout), "vkCreatePipelineLayout");
    VkShaderModule module = assembly_module(device, argv[1]);
    VkPipeline drawing = pipeline(device, module, layout, pass);

    void *vertices, *pixels;
    VkBuffer vertex_buffer = buffer(device, sizeof VERTICES, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &vertices);
    VkBuffer readback = buffer(device, 4 * SIZE * SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &pixels);
    memcpy(vertices, VERTICES, sizeof VERTICES);

    const VkCommandPoolCreateInfo pool_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO };
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo commands_info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                        .commandPool = pool, .commandBufferCount = 1 };
    VkCommandBuffer commands;
    check(vkAllocateCommandBuffers(device, &commands_info, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const VkClearValue clear = { .color = { .float32 = { 0.12f, 0.13f, 0.16f, 1 } } };
    const VkRenderPassBeginInfo pass_begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = { { 0, 0 }, { SIZE, SIZE } },
        .clearValueCount = 1,
        .pClearValues = &clear,
    };
    const float opacity = 0.6f;
    const VkDeviceSize start = 0;
    vkCmdBeginRenderPass(commands, &pass_begin, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, drawing);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof opacity, &opacity);
    vkCmdBindVertexBuffers(commands, 0, 1, &vertex_buffer, &start);
    vkCmdDraw(commands, COUNT(VERTICES), 1, 0, 0);
    vkCmdEndRenderPass(commands);
    const VkBufferImageCopy copy = {
        .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
        .imageExtent = { SIZE, SIZE, 1 },
    };
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, readback, 1, &copy);
    const VkMemoryBarrier visible = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                      .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                      .dstAccessMask = VK_ACCESS_HOST_READ_BIT };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &visible,
                         0, NULL, 0, NULL);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkSubmitInfo submit = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1,
                                  .pCommandBuffers = &commands };
    check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkDeviceWaitIdle(device), "vkDeviceWaitIdle");
    save(argv[2], pixels);
    /* The process ends here, and everything with it. */
    return 0;
}

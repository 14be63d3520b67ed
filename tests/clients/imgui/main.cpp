// Dear ImGui's demonstration by its own Vulkan backend, as Debian ships both, into an image that is saved.
//
// main OUT.pam

#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>
#include <vulkan/vulkan.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr uint32_t WIDTH = 1000;
constexpr uint32_t HEIGHT = 720;
constexpr VkFormat FORMAT = VK_FORMAT_R8G8B8A8_UNORM;
// Windows take a frame to find their sizes, and another to use them.
constexpr int FRAMES = 4;

void check(VkResult result) {
    if (result != VK_SUCCESS) {
        std::fprintf(stderr, "a command returned %d\n", result);
        std::exit(1);
    }
}

VkInstance instance;
VkPhysicalDevice physical;
VkDevice device;
VkQueue queue;
VkCommandBuffer commands;

VkInstance make_instance() {
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_0;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    VkInstance made;
    check(vkCreateInstance(&info, nullptr, &made));
    return made;
}

VkPhysicalDevice first_device() {
    uint32_t count = 1;
    VkPhysicalDevice found = VK_NULL_HANDLE;
    vkEnumeratePhysicalDevices(instance, &count, &found);
    if (count == 0) {
        std::fprintf(stderr, "no device\n");
        std::exit(1);
    }
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(found, &properties);
    std::printf("%s\n", properties.deviceName);
    return found;
}

VkDevice make_device() {
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    VkDevice made;
    check(vkCreateDevice(physical, &info, nullptr, &made));
    return made;
}

VkCommandBuffer make_commands() {
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, nullptr, &pool));
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer made;
    check(vkAllocateCommandBuffers(device, &info, &made));
    return made;
}

// Records with `body` and waits for the end.
template <typename Body> void run(Body body) {
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands, &begin));
    body();
    check(vkEndCommandBuffer(commands));
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    check(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    check(vkQueueWaitIdle(queue));
}

// The first memory type of those that has the properties.
VkDeviceMemory allocate(const VkMemoryRequirements &needs, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
           (memory.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted) {
        ++info.memoryTypeIndex;
    }
    VkDeviceMemory made;
    check(vkAllocateMemory(device, &info, nullptr, &made));
    return made;
}

struct Target {
    VkImage image;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
};

Target make_target() {
    Target target;
    VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = FORMAT;
    image.extent = {WIDTH, HEIGHT, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    check(vkCreateImage(device, &image, nullptr, &target.image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, target.image, &needs);
    check(vkBindImageMemory(device, target.image, allocate(needs, 0), 0));

    VkAttachmentDescription color{};
    color.format = FORMAT;
    color.samples = VK_SAMPLE_COUNT_1_BIT;
    color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    color.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    color.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass{};
    subpass.colorAttachmentCount = 1;
    subpass.pColorAttachments = &reference;
    VkSubpassDependency read{};
    read.dstSubpass = VK_SUBPASS_EXTERNAL;
    read.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    read.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    read.dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    read.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    VkRenderPassCreateInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
    pass.attachmentCount = pass.subpassCount = pass.dependencyCount = 1;
    pass.pAttachments = &color;
    pass.pSubpasses = &subpass;
    pass.pDependencies = &read;
    check(vkCreateRenderPass(device, &pass, nullptr, &target.pass));

    VkImageViewCreateInfo view_info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view_info.image = target.image;
    view_info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view_info.format = FORMAT;
    view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageView view;
    check(vkCreateImageView(device, &view_info, nullptr, &view));
    VkFramebufferCreateInfo framebuffer{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    framebuffer.renderPass = target.pass;
    framebuffer.attachmentCount = 1;
    framebuffer.pAttachments = &view;
    framebuffer.width = WIDTH;
    framebuffer.height = HEIGHT;
    framebuffer.layers = 1;
    check(vkCreateFramebuffer(device, &framebuffer, nullptr, &target.framebuffer));
    return target;
}

void start_imgui(VkRenderPass pass) {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 8};
    VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
    pool.maxSets = 8;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    ImGui_ImplVulkan_InitInfo info{};
    check(vkCreateDescriptorPool(device, &pool, nullptr, &info.DescriptorPool));
    info.Instance = instance;
    info.PhysicalDevice = physical;
    info.Device = device;
    info.Queue = queue;
    info.MinImageCount = info.ImageCount = 2;
    info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
    info.CheckVkResultFn = check;
    ImGui::CreateContext();
    ImGui::GetIO().DisplaySize = ImVec2(WIDTH, HEIGHT);
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui_ImplVulkan_Init(&info, pass);
    run([] { ImGui_ImplVulkan_CreateFontsTexture(commands); });
    ImGui_ImplVulkan_DestroyFontUploadObjects();
}

// Shapes of all kinds that its lists have, beside the windows.
void shapes() {
    ImGui::SetNextWindowPos(ImVec2(570, 20));
    ImGui::SetNextWindowSize(ImVec2(410, 320));
    ImGui::Begin("Shapes");
    ImDrawList *list = ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    list->AddCircleFilled(ImVec2(at.x + 60, at.y + 60), 50, IM_COL32(230, 80, 40, 255));
    list->AddCircle(ImVec2(at.x + 150, at.y + 60), 40, IM_COL32(250, 220, 40, 200), 0, 6);
    list->AddTriangleFilled(ImVec2(at.x + 210, at.y + 110), ImVec2(at.x + 300, at.y + 110), ImVec2(at.x + 255, at.y + 15),
                            IM_COL32(60, 160, 240, 128));
    list->AddRectFilledMultiColor(ImVec2(at.x + 10, at.y + 130), ImVec2(at.x + 180, at.y + 230), IM_COL32(255, 0, 0, 255),
                                  IM_COL32(0, 255, 0, 255), IM_COL32(0, 0, 255, 255), IM_COL32(255, 255, 255, 64));
    list->AddBezierCubic(ImVec2(at.x + 200, at.y + 220), ImVec2(at.x + 240, at.y + 100), ImVec2(at.x + 320, at.y + 300),
                         ImVec2(at.x + 380, at.y + 140), IM_COL32(120, 240, 120, 255), 3);
    float wave[64];
    for (int i = 0; i < 64; ++i) {
        wave[i] = std::sin(i * 0.2f);
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x + 10, at.y + 240));
    ImGui::PlotLines("wave", wave, 64, 0, nullptr, -1, 1, ImVec2(240, 40));
    ImGui::End();
}

void frame(const Target &target) {
    ImGui_ImplVulkan_NewFrame();
    ImGui::NewFrame();
    ImGui::ShowDemoWindow();
    // It places itself when it is new.
    ImGui::SetWindowPos("Dear ImGui Demo", ImVec2(20, 20));
    ImGui::SetWindowSize("Dear ImGui Demo", ImVec2(530, 680));
    ImGui::SetNextWindowPos(ImVec2(570, 360));
    ImGui::SetNextWindowSize(ImVec2(410, 340));
    ImGui::Begin("Style");
    ImGui::ShowStyleEditor();
    ImGui::End();
    shapes();
    ImGui::Render();
    run([&] {
        VkClearValue clear{};
        clear.color = {{0.45f, 0.55f, 0.60f, 1}};
        VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
        begin.renderPass = target.pass;
        begin.framebuffer = target.framebuffer;
        begin.renderArea.extent = {WIDTH, HEIGHT};
        begin.clearValueCount = 1;
        begin.pClearValues = &clear;
        vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
        ImGui_ImplVulkan_RenderDrawData(ImGui::GetDrawData(), commands);
        vkCmdEndRenderPass(commands);
    });
}

void save(const Target &target, const char *path) {
    constexpr VkDeviceSize BYTES = 4 * WIDTH * HEIGHT;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = BYTES;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer;
    check(vkCreateBuffer(device, &info, nullptr, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    const VkDeviceMemory memory =
        allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkBindBufferMemory(device, buffer, memory, 0));
    run([&] {
        VkBufferImageCopy region{};
        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.imageExtent = {WIDTH, HEIGHT, 1};
        vkCmdCopyImageToBuffer(commands, target.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &region);
        VkMemoryBarrier written{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
        written.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        written.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0,
                             nullptr, 0, nullptr);
    });
    void *pixels;
    check(vkMapMemory(device, memory, 0, BYTES, 0, &pixels));
    std::FILE *file = std::fopen(path, "wb");
    const bool written =
        file != nullptr &&
        std::fprintf(file, "P7\nWIDTH %u\nHEIGHT %u\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", WIDTH, HEIGHT) > 0 &&
        std::fwrite(pixels, BYTES, 1, file) == 1;
    if (file == nullptr || std::fclose(file) != 0 || !written) {
        std::perror(path);
        std::exit(1);
    }
}

} // namespace

int main(int count, char **arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: %s OUT.pam\n", arguments[0]);
        return 2;
    }
    instance = make_instance();
    physical = first_device();
    device = make_device();
    vkGetDeviceQueue(device, 0, 0, &queue);
    commands = make_commands();
    const Target target = make_target();
    start_imgui(target.pass);
    for (int n = 0; n < FRAMES; ++n) {
        frame(target);
    }
    save(target, arguments[1]);
    ImGui_ImplVulkan_Shutdown();
    ImGui::DestroyContext();
    // The process takes the rest with it.
    return 0;
}

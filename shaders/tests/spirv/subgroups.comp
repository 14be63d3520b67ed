#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require

// Adds up what subgroups of any size agree on, and writes down what depends on the size.
layout(local_size_x = 6, local_size_y = 2) in;
layout(set = 0, binding = 0) readonly buffer Numbers { uint numbers[]; };
layout(set = 0, binding = 1) buffer Results { uint results[][32]; };
layout(set = 0, binding = 2) buffer Floats { float floats[][8]; };
shared uint passed[12];

void main() {
    uint at = gl_WorkGroupID.x * 12 + gl_LocalInvocationIndex;
    uint number = numbers[at];
    bool odd = (number & 1) != 0;
    int minus = -int(number);
    float real = uintBitsToFloat(number);
    float small = float(number % 100);

    results[at][0] = gl_NumSubgroups;
    results[at][1] = gl_SubgroupID;
    results[at][2] = gl_SubgroupSize;
    results[at][3] = gl_SubgroupInvocationID;
    results[at][4] = uint(subgroupElect()) + 2 * uint(subgroupAll(odd)) + 4 * uint(subgroupAny(odd))
        + 8 * uint(subgroupAllEqual(number)) + 16 * uint(subgroupAllEqual(vec2(1.0, real)))
        + 32 * uint(subgroupAllEqual(odd));
    results[at][5] = subgroupBroadcast(number, 0) + subgroupBroadcastFirst(number + 1);
    uvec4 ballot = subgroupBallot(odd);
    results[at][6] = ballot.x + 2 * (ballot.y | ballot.z | ballot.w);
    results[at][7] = uint(subgroupInverseBallot(uvec4(number, 0, 0, 0)))
        + 2 * uint(subgroupBallotBitExtract(uvec4(number, 0, 0, 0), 0));
    uvec4 bits = uvec4(number);
    results[at][8] = subgroupBallotBitCount(bits) + 2 * subgroupBallotInclusiveBitCount(bits)
        + 4 * subgroupBallotExclusiveBitCount(bits);
    results[at][9] = subgroupBallotFindLSB(uvec4(number | 1)) + subgroupBallotFindMSB(uvec4(number | 1));
    results[at][10] = gl_SubgroupEqMask.x | gl_SubgroupGeMask.x << 1 | gl_SubgroupGtMask.x << 2
        | gl_SubgroupLeMask.x << 3 | gl_SubgroupLtMask.x << 4 | (gl_SubgroupEqMask.y + gl_SubgroupGeMask.w) << 5;
    results[at][11] = subgroupShuffle(number, gl_SubgroupInvocationID) + subgroupShuffleXor(number, 0)
        + subgroupShuffleUp(number, 0) + subgroupShuffleDown(number, 0);
    results[at][12] = subgroupAdd(number);
    results[at][13] = subgroupInclusiveMul(number);
    results[at][14] = subgroupClusteredMax(number, 1);
    results[at][15] = uint(subgroupMin(minus));
    // What a scan has made of nothing.
    results[at][16] = subgroupExclusiveAdd(number);
    results[at][17] = subgroupExclusiveMul(number);
    results[at][18] = uint(subgroupExclusiveMin(minus));
    results[at][19] = subgroupExclusiveMin(number);
    results[at][20] = uint(subgroupExclusiveMax(minus));
    results[at][21] = subgroupExclusiveMax(number);
    results[at][22] = subgroupExclusiveAnd(number);
    results[at][23] = subgroupExclusiveOr(number);
    results[at][24] = subgroupExclusiveXor(number);
    results[at][25] = uint(subgroupExclusiveAnd(odd)) + 2 * uint(subgroupExclusiveOr(odd))
        + 4 * uint(subgroupExclusiveXor(odd)) + 8 * uint(subgroupXor(odd));
    // Barriers of a subgroup order memory and wait for nobody else: here only some come by.
    passed[gl_LocalInvocationIndex] = number;
    if (odd) {
        subgroupBarrier();
        subgroupMemoryBarrierShared();
        passed[gl_LocalInvocationIndex] += 5;
    }
    barrier();
    results[at][26] = passed[(gl_LocalInvocationIndex + 1) % 12];

    floats[at][0] = subgroupAdd(small);
    floats[at][1] = subgroupExclusiveAdd(small);
    floats[at][2] = subgroupExclusiveMul(small);
    floats[at][3] = subgroupExclusiveMin(small);
    floats[at][4] = subgroupExclusiveMax(small);
    vec3 three = subgroupInclusiveMax(vec3(small, 1.0, -small));
    floats[at][5] = three.x + three.y * 1000.0;
    floats[at][6] = three.z;
}

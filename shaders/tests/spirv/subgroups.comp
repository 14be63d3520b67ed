#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_quad : require

// All operations of subgroups: of four invocations, and of the two that are left; of all, in branches, and in a loop that they
// leave one by one.
layout(local_size_x = 7, local_size_y = 2) in;
layout(set = 0, binding = 0) readonly buffer Numbers { uint numbers[]; };
layout(set = 0, binding = 1) buffer Results { uint results[][40]; };
layout(set = 0, binding = 2) buffer Floats { float floats[][8]; };
shared uint passed[14];

void main() {
    uint at = gl_WorkGroupID.x * 14 + gl_LocalInvocationIndex;
    uint own = gl_SubgroupInvocationID;
    uint number = numbers[at];
    bool odd = (number & 1) != 0;
    int minus = -int(number);
    float real = uintBitsToFloat(number);
    float small = float(number % 100);

    results[at][0] = gl_NumSubgroups;
    results[at][1] = gl_SubgroupID;
    results[at][2] = gl_SubgroupSize;
    results[at][3] = own;
    results[at][4] = uint(subgroupElect()) + 2 * uint(subgroupAll(odd)) + 4 * uint(subgroupAny(odd))
        + 8 * uint(subgroupAllEqual(number)) + 16 * uint(subgroupAllEqual(vec2(1.0, real)))
        + 32 * uint(subgroupAllEqual(odd)) + 64 * uint(subgroupAllEqual(gl_WorkGroupID.x));
    results[at][5] = subgroupBroadcast(number, 1) + subgroupBroadcastFirst(number + 1);
    uvec4 ballot = subgroupBallot(odd);
    results[at][6] = ballot.x + 16 * (ballot.y | ballot.z | ballot.w);
    results[at][7] = uint(subgroupInverseBallot(uvec4(number, 0, 0, 0)))
        + 2 * uint(subgroupBallotBitExtract(uvec4(number, 0, 0, 0), 2));
    uvec4 bits = uvec4(number);
    results[at][8] = subgroupBallotBitCount(bits) + 8 * subgroupBallotInclusiveBitCount(bits)
        + 64 * subgroupBallotExclusiveBitCount(bits);
    results[at][9] = subgroupBallotFindLSB(bits | 8) + 4 * subgroupBallotFindMSB(bits | 1);
    results[at][10] = gl_SubgroupEqMask.x | gl_SubgroupGeMask.x << 4 | gl_SubgroupGtMask.x << 8
        | gl_SubgroupLeMask.x << 12 | gl_SubgroupLtMask.x << 16 | (gl_SubgroupEqMask.y + gl_SubgroupGeMask.w) << 20;
    results[at][11] = subgroupShuffle(number, own ^ 1);
    results[at][12] = subgroupShuffleXor(number, 1);
    uint up = subgroupShuffleUp(number, 1), down = subgroupShuffleDown(number, 1);
    results[at][13] = own > 0 ? up : 0;
    results[at][14] = own < 3 && gl_LocalInvocationIndex < 13 ? down : 0;
    results[at][15] = subgroupAdd(number);
    results[at][16] = subgroupInclusiveMul(number);
    results[at][17] = subgroupClusteredMax(number, 2);
    results[at][18] = uint(subgroupMin(minus));
    results[at][19] = subgroupExclusiveAdd(number);
    results[at][20] = subgroupExclusiveMul(number);
    results[at][21] = uint(subgroupExclusiveMin(minus));
    results[at][22] = subgroupExclusiveMin(number);
    results[at][23] = uint(subgroupExclusiveMax(minus));
    results[at][24] = subgroupExclusiveMax(number);
    results[at][25] = subgroupExclusiveAnd(number);
    results[at][26] = subgroupExclusiveOr(number);
    results[at][27] = subgroupExclusiveXor(number);
    results[at][28] = uint(subgroupExclusiveAnd(odd)) + 2 * uint(subgroupExclusiveOr(odd))
        + 4 * uint(subgroupExclusiveXor(odd)) + 8 * uint(subgroupXor(odd));
    // Barriers of a subgroup order memory and wait for nobody else: here only some come by.
    passed[gl_LocalInvocationIndex] = number;
    if (odd) {
        subgroupBarrier();
        subgroupMemoryBarrierShared();
        passed[gl_LocalInvocationIndex] += 5;
    }
    barrier();
    results[at][29] = passed[(gl_LocalInvocationIndex + 1) % 14];
    // The last two invocations are half of a quad.
    uint down_two = subgroupQuadSwapVertical(number), across = subgroupQuadSwapDiagonal(number);
    results[at][30] = subgroupQuadBroadcast(number, 1);
    results[at][31] = subgroupQuadSwapHorizontal(number);
    results[at][32] = gl_SubgroupID < 3 ? down_two : 0;
    results[at][33] = gl_SubgroupID < 3 ? across : 0;

    if (odd) {
        results[at][34] = uint(subgroupElect()) + 2 * subgroupBallot(true).x;
        results[at][35] = subgroupInclusiveAdd(number);
        results[at][36] = subgroupBroadcastFirst(number);
    } else {
        results[at][34] = uint(subgroupElect()) + 2 * subgroupBallot(number % 3 == 0).x;
        results[at][35] = subgroupExclusiveMax(number);
        results[at][36] = uint(subgroupAllEqual(number % 3));
    }
    uint company = 0;
    for (uint i = 0; i < number % 5; i++) {
        if (i == 2 && odd) {
            continue;
        }
        company = 10 * company + subgroupAdd(1);
    }
    results[at][37] = company;
    results[at][38] = subgroupShuffle(number, gl_WorkGroupID.x);
    results[at][39] = uint(subgroupShuffle(odd, own ^ 1));

    floats[at][0] = subgroupAdd(small);
    floats[at][1] = subgroupExclusiveAdd(small);
    floats[at][2] = subgroupExclusiveMul(small);
    floats[at][3] = subgroupExclusiveMin(small);
    floats[at][4] = subgroupExclusiveMax(small);
    vec3 three = subgroupInclusiveMax(vec3(small, 1.0, -small));
    floats[at][5] = three.x + three.y * 1000.0;
    floats[at][6] = three.z;
}

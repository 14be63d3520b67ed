#version 450
// More values than the register files hold are alive around two arms and a loop. Each takes the one before it, and too much work
// to be made twice.
layout(location = 0) in vec4 v_value;
layout(set = 0, binding = 0) uniform Block { vec4 u_choice; };
layout(location = 0) out vec4 o_color;

#define STEP x = (1.0 - x * x) * 0.5 + 0.5;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
#define MAKE(value) STEPS STEPS float value = x;
#define TAKE(value) sum = sum * 0.5 + value;

void main()
{
    float x = v_value.x;
    MAKE(v0) MAKE(v1) MAKE(v2) MAKE(v3) MAKE(v4) MAKE(v5) MAKE(v6) MAKE(v7)
    MAKE(v8) MAKE(v9) MAKE(v10) MAKE(v11) MAKE(v12) MAKE(v13) MAKE(v14) MAKE(v15)
    MAKE(v16) MAKE(v17) MAKE(v18) MAKE(v19) MAKE(v20) MAKE(v21) MAKE(v22) MAKE(v23)
    MAKE(v24) MAKE(v25) MAKE(v26) MAKE(v27) MAKE(v28) MAKE(v29) MAKE(v30) MAKE(v31)
    MAKE(v32) MAKE(v33) MAKE(v34) MAKE(v35) MAKE(v36) MAKE(v37) MAKE(v38) MAKE(v39)
    MAKE(v40) MAKE(v41) MAKE(v42) MAKE(v43) MAKE(v44) MAKE(v45) MAKE(v46) MAKE(v47)
    MAKE(v48) MAKE(v49) MAKE(v50) MAKE(v51) MAKE(v52) MAKE(v53) MAKE(v54) MAKE(v55)
    MAKE(v56) MAKE(v57) MAKE(v58) MAKE(v59)
    float sum = v_value.y;
    x = sum + v3;
    if (u_choice.x > 0.0) {
        STEPS STEPS STEPS
        sum = x * v5;
    } else {
        STEPS STEPS
        sum = x + v7;
    }
    for (float n = 0.0; n < u_choice.y * 4.0; n += 1.0) {
        x = sum;
        STEPS
        sum = x * v11 + v13;
    }
    TAKE(v59) TAKE(v58) TAKE(v57) TAKE(v56) TAKE(v55) TAKE(v54) TAKE(v53) TAKE(v52)
    TAKE(v51) TAKE(v50) TAKE(v49) TAKE(v48) TAKE(v47) TAKE(v46) TAKE(v45) TAKE(v44)
    TAKE(v43) TAKE(v42) TAKE(v41) TAKE(v40) TAKE(v39) TAKE(v38) TAKE(v37) TAKE(v36)
    TAKE(v35) TAKE(v34) TAKE(v33) TAKE(v32) TAKE(v31) TAKE(v30) TAKE(v29) TAKE(v28)
    TAKE(v27) TAKE(v26) TAKE(v25) TAKE(v24) TAKE(v23) TAKE(v22) TAKE(v21) TAKE(v20)
    TAKE(v19) TAKE(v18) TAKE(v17) TAKE(v16) TAKE(v15) TAKE(v14) TAKE(v13) TAKE(v12)
    TAKE(v11) TAKE(v10) TAKE(v9) TAKE(v8) TAKE(v7) TAKE(v6) TAKE(v5) TAKE(v4)
    TAKE(v3) TAKE(v2) TAKE(v1) TAKE(v0)
    o_color = vec4(sum, x, v_value.z, 1.0);
}

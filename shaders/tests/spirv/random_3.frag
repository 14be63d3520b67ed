#version 450
// A generated program; random_3.expected holds a, b, c, d and arr of elements 0 to 15, x for discarded ones.
layout(location=0) flat in int p;
layout(location=1) flat in int q;
layout(location=0) out ivec4 o[3];
int arr[4] = int[](1,2,3,4);
int a,b,c,d,g;
void finish() { o[0] = ivec4(a,b,c,d); o[1] = ivec4(arr[0],arr[1],arr[2],arr[3]); }
int f0(int a, inout int b) {
  int c = 1, d = 2;
  if (((c ^ c) <= (a * (0)))) {
    a = (((c - b) ^ (c | (12))) | ((a == b) ? (-4) : (d + c)));
    c = ((((-5) - c) + d) | (c - (-8)));
  } else {
    arr[(((b - c) * ((8) & (-7)))) & 3] = (d - b); c += arr[((((-5) - (-2)) - ((0) & d))) & 3];
  }
  switch ((((8) ^ ((b <= (-7)) ? a : (-8))) & (7))) {
  case 4:
    d = ((4) - (-5));
    break;
  default:
    if (((d & (7)) == (5))) {
      discard;
    }
    d = (((b == (7)) ? (c - c) : (a | c)) - (d ^ c));
    c = ((b + (d << (c & 3))) - (((8) + (1)) + (d * (1))));
    break;
  }
  b = (((c << (c & 3)) & c) * ((c + (-6)) * (d << (a & 3))));
  return a + b;
}
int f1(int a, inout int b) {
  int c = 1, d = 2;
  a = (((a * b) & ((-6) | a)) << ((((d > b) ? (3) : b) - (a - c)) & 3));
  d = d;
  return a + b;
}
void main() {
  a = p; b = q; c = p ^ 3; d = 1; g = p * q;
  d = (g << ((((g <= (11)) ? d : c) - (-6)) & 3));
  finish();
}

#version 450
// A generated program; random_5.expected holds a, b, c, d and arr of elements 0 to 15, x for discarded ones.
layout(location=0) flat in int p;
layout(location=1) flat in int q;
layout(location=0) out ivec4 o[3];
int arr[4] = int[](1,2,3,4);
int a,b,c,d,g;
void finish() { o[0] = ivec4(a,b,c,d); o[1] = ivec4(arr[0],arr[1],arr[2],arr[3]); }
void main() {
  a = p; b = q; c = p ^ 3; d = 1; g = p * q;
  b = (((d + g) ^ (b + g)) << ((6) & 3));
  if (((a | (9)) <= b)) {
    for (int i1 = 0; i1 < (2); i1++) {
      if ((((c != (-8)) ? a : b) <= ((-8) * c))) {
        break;
      }
      b = b;
      c = (((c + (-3)) != (((-4) < b) ? b : a)) ? (a + ((-4) - (0))) : (i1 & (((-5) != a) ? (-2) : c)));
    }
  }
  d = (((a & (-1)) & g) & ((-6) << ((b + d) & 3)));
  if (((a - b) != (-8))) {
    d = (8);
    if (((g | g) < g)) {
      switch ((((c + a) + ((a != b) ? g : g)) & (7))) {
      case 0:
        b = ((((0) < g) || ((12) < b)) ? (((-3) < (-7)) ? (((-7) == a) ? a : g) : g) : ((d & g) + ((2) & (7))));
        break;
      case 5:
        a = (((a != a) ? (11) : (10)) - ((a <= c) ? (a | c) : (a << ((-7) & 3))));
        if ((((-3) << ((10) & 3)) != c)) {
          break;
        }
        if (((c & d) < (a << (d & 3)))) {
          b = (1);
          b = d;
          b = (a + ((d > a) ? (g | (3)) : a));
        } else {
          b = ((c | ((a < g) ? (2) : g)) * ((g * d) + b));
          a = a;
          c = c;
        }
        switch (((g << ((b << (d & 3)) & 3)) & (7))) {
        case 3:
          d = b;
          break;
          break;
          d = (5);
        case 1:
          c = (((a * (0)) > ((0) * a)) ? ((g ^ d) ^ (g + g)) : ((c | a) & (((-8) > (12)) ? g : c)));
          a = (((d & a) < (8)) ? ((((2) == d) && (b > c)) ? a : ((-7) | b)) : (0));
          a = a;
        default:
          d = d;
        case 5:
          b = (((a <= a) ? (g ^ (1)) : ((c > (3)) ? d : a)) + (2));
          a = ((((3) << (g & 3)) | a) & (b + b));
          b = (((a ^ (12)) - ((a != (-6)) ? g : c)) + (c << ((c & c) & 3)));
          c = (((b * a) | (a << ((-5) & 3))) + ((((2) < b) ? a : c) - (g * (12))));
          break;
        }
      case 4:
        c = ((((g <= c) ? d : g) < ((11) | a)) ? (((-6) * d) | ((-8) | g)) : ((a ^ (1)) ^ (2)));
        break;
      }
    }
    d = ((b & (a & (-5))) ^ ((6) - c));
    b = ((c << (b & 3)) & (4));
  } else {
    b = ((((11) | (-6)) + (d & g)) ^ (((-3) & d) & (g << (a & 3))));
  }
  finish();
}

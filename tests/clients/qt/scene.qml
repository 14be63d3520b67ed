// Qt Quick as programs use it: rounded and clipped rectangles, gradients, a turned item, text, a path, opacity, layers.
// `qml scene.qml -- FRAMES`: turns so long and ends. `qml scene.qml -- OUT.png`: saves a still picture and ends.

import QtQuick
import QtQuick.Shapes
import QtQuick.Window

Window {
    id: window
    readonly property string last: Qt.application.arguments[Qt.application.arguments.length - 1]
    readonly property bool still: last.endsWith(".png")
    property int frames: 0

    width: 320
    height: 240
    visible: true
    title: "Qt Quick"
    onAfterAnimating: {
        frames += 1;
        if (!still && frames > Number(last)) {
            Qt.quit();
        }
    }

    Rectangle {
        id: scene
        anchors.fill: parent
        gradient: Gradient {
            GradientStop { position: 0.0; color: "#20324a" }
            GradientStop { position: 1.0; color: "#0b1018" }
        }

        Rectangle {
            x: 16; y: 16; width: 120; height: 90; radius: 14
            color: "#e8eef6"
            border { width: 4; color: "#5fa8e0" }
            Text {
                anchors.centerIn: parent
                text: "Qt Quick"
                color: "#20324a"
                font { family: "DejaVu Sans"; pixelSize: 22; bold: true }
            }
        }

        Item {
            x: 160; y: 16; width: 140; height: 90; clip: true
            Repeater {
                model: 7
                Rectangle {
                    required property int index
                    x: 24 * index - 12; y: 10 * index - 6; width: 40; height: 40
                    rotation: 12 * index
                    antialiasing: true
                    color: Qt.hsla(index / 7, 0.7, 0.55, 1)
                    opacity: 0.75
                }
            }
        }

        Rectangle {
            x: 40; y: 134; width: 70; height: 70
            antialiasing: true
            gradient: Gradient {
                orientation: Gradient.Horizontal
                GradientStop { position: 0.0; color: "#f6c445" }
                GradientStop { position: 1.0; color: "#d8482f" }
            }
            rotation: 30
            NumberAnimation on rotation { running: !window.still; from: 0; to: 360; duration: 4000; loops: Animation.Infinite }
        }

        Shape {
            x: 150; y: 120; width: 150; height: 100
            ShapePath {
                fillColor: "#3c9d6b"
                strokeColor: "white"
                strokeWidth: 3
                startX: 10; startY: 90
                PathCubic { x: 140; y: 90; control1X: 30; control1Y: -40; control2X: 120; control2Y: -40 }
                PathLine { x: 10; y: 90 }
            }
        }

        Rectangle {
            x: 190; y: 150; width: 90; height: 60; radius: 30
            color: "#80ffffff"
            layer.enabled: true
            layer.smooth: true
            Text { anchors.centerIn: parent; text: "½ layer"; font { family: "DejaVu Sans"; pixelSize: 15 } }
        }
    }

    Timer {
        interval: 500
        running: window.still
        onTriggered: scene.grabToImage(result => Qt.exit(result.saveToFile(window.last) ? 0 : 1))
    }
}
